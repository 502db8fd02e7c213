"""Whether a replica of the operator leads, by its Lease. Without one no gate opens, and what is
published of queues grows old.
"""

from .lease import is_renewed

__all__ = [
    "is_renewed",
]

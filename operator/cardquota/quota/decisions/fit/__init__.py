"""Does a request fit its queue's quota, on which card, and what is said if not? (E2, E7)"""

from .borrowing import is_surplus, with_borrowing
from .free_nodes import has_free
from .queue_room import QueueRoom

__all__ = [
    "QueueRoom",
    "has_free",
    "is_surplus",
    "with_borrowing",
]

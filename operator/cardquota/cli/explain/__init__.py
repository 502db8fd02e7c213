"""`kubectl cardquota explain KIND NAME`: how a workload stands, and what would let it in.

In: the operator's answer. Out: lines for people, or data for programs.
"""

from .kind_names import NamedKind, named_kind

__all__ = [
    "NamedKind",
    "named_kind",
]

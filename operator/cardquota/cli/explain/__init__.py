"""`kubectl cardquota explain KIND NAME`: how a workload stands, and where else it would fit.

In: the operator's answer. Out: lines for people, or data for programs.
"""

from .kind_names import NamedKind, named_kind

__all__ = [
    "NamedKind",
    "named_kind",
]

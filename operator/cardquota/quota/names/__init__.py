"""Names that people type: which are known, which is nearest, which mean nothing; wildcards."""

from .close_names import LONGEST, MOST_CLOSE, MOST_NAMES
from .meaningless_keys import (
    KEYS_OF_GROUPS,
    KEYS_OF_NAMESPACES,
    KEYS_OF_PODS,
    KEYS_OF_QUEUES,
    LABELS_OF_NAMESPACES,
    MOST_COMPARED,
    KeysOfKind,
)
from .wildcards import fits, is_pattern

__all__ = [
    "KEYS_OF_GROUPS",
    "KEYS_OF_NAMESPACES",
    "KEYS_OF_PODS",
    "KEYS_OF_QUEUES",
    "LABELS_OF_NAMESPACES",
    "LONGEST",
    "MOST_CLOSE",
    "MOST_COMPARED",
    "MOST_NAMES",
    "KeysOfKind",
    "fits",
    "is_pattern",
]

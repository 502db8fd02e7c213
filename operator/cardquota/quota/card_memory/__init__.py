"""The memory of single cards that several pods share: which card of a node has how much room.

In: what nodes say of their cards, and which card each pod holds. Out: where a pod fits, which card
it gets, and what of all that cannot be read. Amounts are in the node's own unit, MiB or GiB.
"""

from .card_memory import CardMemory
from .fit_key import UNHEARD, least_key, reason_of
from .memory_node import MemoryNode, MemoryPod, NodeKind
from .memory_shape import MemoryShape, SharedUnit
from .placement import UNKNOWN, CardPlacement, placement_annotations
from .unhealthy_cards import UnhealthyListError, read_unhealthy

__all__ = [
    "UNHEARD",
    "UNKNOWN",
    "CardMemory",
    "CardPlacement",
    "MemoryNode",
    "MemoryPod",
    "MemoryShape",
    "NodeKind",
    "SharedUnit",
    "UnhealthyListError",
    "least_key",
    "placement_annotations",
    "read_unhealthy",
    "reason_of",
]

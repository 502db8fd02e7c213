"""Which cards there are: their names, their makers, and what a node's labels say.

In: labels and amounts of nodes, quotas as text. Out: `Card`s, the `Catalog` of those that are known
with their resource names, `discover` for one node, `read_quota` for one queue. Knows no pods.
"""

from .card import (
    LONGEST_NAME,
    NO_SURGE,
    Card,
    CardNameError,
    Catalog,
    MemoryLabel,
    MemoryUnit,
    can_exist,
    check_name,
    gib_of,
    mib_of,
    model_of,
    read_alternatives,
)
from .card_memory import CardMemory, MemoryNode, MemoryPod, NodeKind
from .discovery import discover
from .memory_shape import (
    UNKNOWN,
    CardPlacement,
    MemoryShape,
    SharedUnit,
    UnhealthyListError,
    placement_annotations,
    read_unhealthy,
)
from .quota_text import MOST_ROWS, QuotaTextError, read_quota, read_request, read_surge
from .vendor import Vendor, counts_form, may_count_cards, plain_vendor, vendor_behind
from .vendor_table import DEFAULT_TABLE, VendorTable

__all__ = [
    "DEFAULT_TABLE",
    "LONGEST_NAME",
    "MOST_ROWS",
    "NO_SURGE",
    "UNKNOWN",
    "Card",
    "CardMemory",
    "CardNameError",
    "CardPlacement",
    "Catalog",
    "MemoryLabel",
    "MemoryNode",
    "MemoryPod",
    "MemoryShape",
    "MemoryUnit",
    "NodeKind",
    "QuotaTextError",
    "SharedUnit",
    "UnhealthyListError",
    "Vendor",
    "VendorTable",
    "can_exist",
    "check_name",
    "counts_form",
    "discover",
    "gib_of",
    "may_count_cards",
    "mib_of",
    "model_of",
    "placement_annotations",
    "plain_vendor",
    "read_alternatives",
    "read_quota",
    "read_request",
    "read_surge",
    "read_unhealthy",
    "vendor_behind",
]

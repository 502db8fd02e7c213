"""Which cards there are: their names, their makers, and what a node's labels say.

In: labels and amounts of nodes, quotas as text. Out: `Card`s, the `Catalog` of those that are known
with their resource names, `discover` for one node, `read_quota` for one queue. Knows no pods.
"""

from .card import (
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
    MOST_CARDS,
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

"""Which cards there are: their names, their makers, and what a node's labels say.

In: labels and amounts of nodes, quotas as text. Out: `Card`s, the `Catalog` of those that are known
with their resource names, `discover` for one node, `read_quota` for one queue. Knows no pods.
"""

from .card import Card, Catalog, MemoryLabel, MemoryUnit
from .card_memory import CardMemory, MemoryNode, MemoryPod
from .memory_shape import CardPlacement
from .vendor_table import DEFAULT_TABLE

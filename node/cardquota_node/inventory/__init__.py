"""What cards a node has: by the driver's library NVML, or by a file that stands for it.

Out: `Inventory`, a protocol that both implement, and `NodeCard`. `NvmlInventory` and `XidWatch` are
in modules of their own: the driver's library is loaded only where it is asked.
"""

from .file_inventory import FileInventory
from .node_card import (
    OF_APPLICATIONS,
    CardProcess,
    Inventory,
    InventoryError,
    Mig,
    NodeCard,
    NoDriverError,
)

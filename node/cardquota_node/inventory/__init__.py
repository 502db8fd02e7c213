"""What cards a node has: by the driver's library NVML, or by a file that stands for it.

Out: `Inventory`, a protocol that both implement, and `NodeCard`.
"""

from .file_inventory import FileInventory
from .node_card import CardProcess, Inventory, InventoryError, Mig, NodeCard, NoDriverError
from .nvml_inventory import NvmlInventory
from .xid_watch import OF_APPLICATIONS, XidWatch

"""What people see of the ledger: the rows of a queue, the totals of the cluster, and any drift.

In: the ledger. Out: plain data for status, metrics and the command line; an independent recount,
and what differs from it (I2).
"""

from .cluster_report import OutsideUse, UseTotals
from .drift import Compared, Totals, compare, totals_of
from .memory_report import (
    MemoryNodeRow,
    MemoryPodRow,
    MemoryReport,
    SharedCardRow,
    UnitTotal,
    memory_report,
    node_row,
    unlimited_use,
)
from .queue_report import (
    CardRow,
    QueueReport,
    QueueUse,
    ResourceRow,
    Waiting,
    columns,
    group_cards,
    report,
)

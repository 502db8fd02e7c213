"""Which node a pod may go to, which one is best, and which of its cards the pod gets.

In: the ledger, and a pod as kube-scheduler sends it. Out: answers for the scheduler extender, which
charge nothing.
"""

from .memory_report import (
    MemoryNodeRow,
    MemoryPodRow,
    MemoryReport,
    SharedCardRow,
    UnitTotal,
    node_row,
    unlimited_use,
)
from .node_filter import NodeFit, fit_nodes, why_no_memory
from .node_ranking import BEST, KEPT, NodeRanking, NodeScore
from .preemption import victims_by_node

__all__ = [
    "BEST",
    "KEPT",
    "MemoryNodeRow",
    "MemoryPodRow",
    "MemoryReport",
    "NodeFit",
    "NodeRanking",
    "NodeScore",
    "SharedCardRow",
    "UnitTotal",
    "fit_nodes",
    "node_row",
    "unlimited_use",
    "victims_by_node",
    "why_no_memory",
]

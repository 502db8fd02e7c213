"""What is reported of objects other than queues: nodes, namespaces, unadmitted pods, policies.

In: the ledger, and what is installed. Out: events, some at a time, and log lines.
"""

from .audit import report_unadmitted
from .condition_events import ConditionEvents
from .installation import EVERY, InstallationCheck
from .left_out_reports import ask_for_left_out, report_left_out
from .memory_reports import MemoryReports
from .namespace_reports import NamespaceReports
from .node_reports import report_nodes
from .unadmitted import UnadmittedReports

__all__ = [
    "EVERY",
    "ConditionEvents",
    "InstallationCheck",
    "MemoryReports",
    "NamespaceReports",
    "UnadmittedReports",
    "ask_for_left_out",
    "report_left_out",
    "report_nodes",
    "report_unadmitted",
]

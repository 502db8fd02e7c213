"""Status, conditions and metrics of queues: Kopf reconciles, in a thread and loop of its own.

In: reports, as messages, one slot for each queue. Out: what `kubectl get queues` shows, written at
most once per queue and second. Nothing here touches the ledger.
"""

from .condition_changes import ConditionChange
from .posted_reports import PostedReports
from .published_status import StatusAnnotation, StatusFields
from .queue_definition import Definition, QueueDefinition, kept_of
from .queue_handlers import state_of
from .queue_metrics import UNDECIDED, UNKNOWN, measure_drift, refresh
from .queue_operator import QueueOperator, QueuePatches
from .queue_reports import QueueReports
from .status_writer import StatusWriter

__all__ = [
    "UNDECIDED",
    "UNKNOWN",
    "ConditionChange",
    "Definition",
    "PostedReports",
    "QueueDefinition",
    "QueueOperator",
    "QueuePatches",
    "QueueReports",
    "StatusAnnotation",
    "StatusFields",
    "StatusWriter",
    "kept_of",
    "measure_drift",
    "refresh",
    "state_of",
]

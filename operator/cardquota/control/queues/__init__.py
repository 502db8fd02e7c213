"""Status and metrics of queues: Kopf reconciles, in a thread and loop of its own.

In: views of queues, as messages, one slot for each queue. Out: what `kubectl get queues` shows,
written at most once per queue and second. Nothing here touches the ledger.
"""

from .published_status import StatusAnnotation, StatusFields, find_place, keeps_numbers
from .queue_metrics import UNDECIDED, UNKNOWN, measure_drift, refresh
from .queue_operator import QueueOperator
from .queue_reconciler import INTERVAL, QueueReconciler, queue_status

"""What is told to whoever asks about one queue, or about one workload.

In: the ledger, and what is asked. Out: one answer, complete in itself and bounded, worked out in
short steps: between two of them the ledger may change. Nothing is kept, and nothing is charged.
"""

from .answer_forms import (
    LONGEST_NAME,
    MOST_AMOUNTS,
    CardAmount,
    CardRoom,
    Explanation,
    GivingQueue,
    Holder,
    OtherQueue,
    PodNumbers,
    QueueAnswer,
    ReclaimAnswer,
    ResourceRoom,
    Waiter,
    card_amounts,
    choice_amounts,
)
from .asked_workload import AskedWorkload, workload_meant
from .explanation import WorkloadState, explain
from .queue_answer import MOST_CARDS, holders_in, queue_answer
from .reclaim_answer import ReclaimRules
from .waiting import place_in, waiting_order, why_waits

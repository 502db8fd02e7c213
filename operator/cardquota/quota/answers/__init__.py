"""What is told to whoever asks about one queue, or about one workload.

In: the ledger, and what is asked. Out: one answer, complete in itself and bounded, worked out in
short steps: between two of them the ledger may change. Nothing is kept, and nothing is charged.
"""

from .answer_forms import (
    CardAmount,
    CardRoom,
    Explanation,
    Holder,
    OtherQueue,
    PodNumbers,
    QueueAnswer,
    ResourceRoom,
    Waiter,
)
from .asked_workload import AskedWorkload
from .card_amount import LONGEST_NAME, MOST_AMOUNTS, card_amounts, choice_amounts
from .card_room import MOST_CARDS
from .explanation import MOST_LOOKS, Explanations
from .gang_remedies import MOST_ALTERNATIVES, MOST_TRIED
from .gate_reasons import GateReasons, Why
from .holders import holders_in
from .remedies import MOST_SEARCHED
from .standing import WaitsFor, WorkloadState
from .waiting_order import PlaceInOrder, WaitingOrder

__all__ = [
    "LONGEST_NAME",
    "MOST_ALTERNATIVES",
    "MOST_AMOUNTS",
    "MOST_CARDS",
    "MOST_LOOKS",
    "MOST_SEARCHED",
    "MOST_TRIED",
    "AskedWorkload",
    "CardAmount",
    "CardRoom",
    "Explanation",
    "Explanations",
    "GateReasons",
    "Holder",
    "OtherQueue",
    "PlaceInOrder",
    "PodNumbers",
    "QueueAnswer",
    "ResourceRoom",
    "Waiter",
    "WaitingOrder",
    "WaitsFor",
    "Why",
    "WorkloadState",
    "card_amounts",
    "choice_amounts",
    "holders_in",
]

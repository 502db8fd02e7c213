"""The domain: cards, requests, the ledger and its verdicts. Pure: no I/O, no clock, no event loop.

Nothing in this package imports anything else of ours. Amounts are whole numbers everywhere: cards,
milli-cores and bytes. The rooms, of which each imports only those below it:

    answers > release, reports > decisions > ledger > accounts > pending > nodes > pods
    > selectors > cards > objects > words, limits, amounts, messages and the verdict, beside this
    file
"""

from .amounts import LARGEST, canonical
from .kept_objects import SizedCache
from .limits import BODY, GANG_KINDS, JOB_TASKS, MIN_MEMBER, Limit
from .stamp import Reservation, Stamp, read_reservation, reservation_text
from .steps import Steps, to_its_end
from .verdict import Outcome, Shortfall, Verdict
from .vocabulary import (
    ALLOCATED,
    CARD_NAME,
    CHARGED_QUEUE,
    GATE,
    GPU_MEMORY,
    GPU_MEMORY_ASSIGNED,
    GPU_MEMORY_CARD,
    GPU_PRODUCT,
    GROUP_NAME,
    IS_MANAGED,
    MANAGED,
    NAMESPACE_MODE,
    QUEUE_NAME,
    QUOTA,
    REVIEW_GROUP,
    REVIEW_VERSION,
    TERM,
    Mode,
    Policy,
    Reason,
)
from .words import time_text

"""Who gives cards back, and for whom (section 17). Pure questions to the ledger: nothing is charged
or ended here.

In: the ledger, and since when pods are without a node. Out: `reclaim_waiters` and
`preempt_waiters`, for whom room may be made, and `plans`: for each of these a `Plan`, or what is in
the way.
"""

from .beneficiaries import preempt_waiters, reclaim_waiters
from .plan import (
    MOST_VICTIMS,
    PAUSE,
    Beneficiary,
    NoPlan,
    Obstacle,
    Plan,
    ReclaimWay,
    Victim,
)
from .planner import Result, plans
from .reclaim_notes import ReclaimNotes

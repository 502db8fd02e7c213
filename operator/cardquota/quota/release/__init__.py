"""Whose gate opens next: queues in turn, and within a queue one candidate after the other (E6).

In: the ledger. Out: `QueueOrder`, and `release_cycle`, which yields one opening after the other for
the caller to charge. `next_refusals`: which pods are to be told why they wait.
"""

from .cycle import BORROWERS_AT_A_TIME, Refusal, Starvation, next_refusals, release_cycle
from .release_judge import Opening, ReleaseJudge, Wait, judge_member
from .release_order import QueueOrder, usage

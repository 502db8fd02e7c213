"""Where a replica tells of a write that was refused to somebody who is not named as Volcano (V1).

Each one by itself what it was asked; and the condition of the queue, which only the leader writes,
by the one that leads.
"""

from cardquota_webhooks.refused.refused_writes import RefusedWrites

from ..cluster.events.event import ObjectReference
from ..control.reports.stranger_conditions import StrangerConditions
from ..extender.enqueue.leader_refusals import LeaderRefusals
from ..quota.ledger.ledger_reader import LedgerReader
from ..quota.messages.volcano.volcano_messages import LONGEST_STRANGER
from ..quota.reports.strangers import queue_of_pod
from ..quota.vocabulary import RefusedWrite
from ..quota.words import show


class RefusedNews:
    """Not guaranteed: a condition where the write does not say the pod's uid, or on a replica that
    does not lead while there is no port where the leader could be told.
    """

    def __init__(
        self,
        writes: RefusedWrites,
        ledger: LedgerReader,
        conditions: StrangerConditions,
        passed_on: LeaderRefusals | None,
    ) -> None:
        """`passed_on`: to the leader, if there is a port for it."""
        self._writes = writes
        self._ledger = ledger
        self._conditions = conditions
        self._passed_on = passed_on

    def note(self, what: RefusedWrite, user: str, pod: ObjectReference) -> None:
        """It was refused to this user for a pod, of which the uid may be missing."""
        self._writes.note(what, user, pod)
        user = show(user, most=LONGEST_STRANGER)
        if self._conditions.leads:
            self._conditions.note(what, user, [pod.uid])
        elif self._passed_on is not None:
            queue = queue_of_pod(self._ledger, pod.uid)
            if queue is not None:
                self._passed_on.note(what, user, queue, pod.uid)

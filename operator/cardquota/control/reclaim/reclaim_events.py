"""Tells pods that end, and those that they end for, by events (L5)."""

from collections.abc import Collection

from ...cluster.events import EventRecorder, ObjectReference, group_reference, pod_reference
from ...quota import vocabulary as v
from ...quota.ledger.ledger_reader import LedgerReader
from ...quota.messages import reclaim_messages as m
from ...quota.plan_record import PlanRecord
from ...quota.pods.pod_record import PodRecord
from ...quota.reclaim.plan import Beneficiary, Plan, ReclaimWay
from ...quota.reclaim.progress import time_given


class ReclaimEvents:
    """Belongs to the ledger's loop."""

    def __init__(self, ledger: LedgerReader, events: EventRecorder, timeout: float) -> None:
        """`timeout`: seconds that who waits has to start, once room was made."""
        self._ledger = ledger
        self._events = events
        self._timeout = timeout

    def why(self, record: PodRecord, plan: PlanRecord, one: Beneficiary) -> tuple[str, str]:
        """Why a pod is about to end: the reason, and the words of now."""
        facts, card = record.facts, plan.card
        named = one.namespace == facts.namespace
        who = m.who_waits(f"{one.namespace}/{one.name}", group=one.gang, named=named)
        if plan.way == ReclaimWay.PREEMPT:
            text = m.preempted(who, one.queue, card, one.amount, one.priority, facts.priority)
            return v.PREEMPTED, text
        account = self._ledger.account(record.queue)
        held = account.row(card).allocated if account is not None else 0
        deserved = self._ledger.shares.shown(record.queue, card)
        held_since = facts.scheduled or facts.created
        text = m.reclaimed(
            who, one.queue, card, one.amount, record.queue, held, deserved, held_since
        )
        return v.RECLAIMED, text

    def ended(self, record: PodRecord, reason: str, text: str) -> None:
        """A pod was asked to end, for this reason."""
        about = pod_reference(record.facts)
        self._events.record(about, type="Warning", reason=reason, message=text)

    def not_gone(self, record: PodRecord, late: int) -> None:
        """A pod that was asked to end should have been gone so many seconds ago."""
        self._events.record(
            pod_reference(record.facts),
            type="Warning",
            reason=v.NOT_GONE,
            message=m.not_gone(late),
        )

    def room_made(
        self, key: str, plan: PlanRecord, one: Beneficiary, ending: int, queues: Collection[str]
    ) -> None:
        """So many pods of these queues were asked to end for it: all that do."""
        text = m.room_made(plan.card, one.amount, ending, sorted(queues), self._timeout)
        self._tell(key, "Normal", v.ROOM_MADE, text, topic=str(plan.since))

    def gave_up(self, key: str, plan: PlanRecord) -> None:
        """It did not start in time."""
        text = m.gave_up(plan.card, time_given(plan, self._timeout))
        self._tell(key, "Warning", v.RECLAIM_GAVE_UP, text, topic=str(plan.since))

    def would_reclaim(self, plan: Plan) -> None:
        """In another mode pods would end for it."""
        one = plan.beneficiary
        text = m.would_reclaim(one.card, one.amount, len(plan.victims), [*plan.queues])
        self._tell(one.key, "Normal", v.WOULD_RECLAIM, text)

    def _tell(self, key: str, type_: str, reason: str, text: str, *, topic: str = "") -> None:
        about = self._reference(key)
        if about is not None:
            self._events.record(
                about,
                type="Warning" if type_ == "Warning" else "Normal",
                reason=reason,
                message=text,
                topic=topic,
                renewable=True,
            )

    def _reference(self, key: str) -> ObjectReference | None:
        record, group = self._ledger.pods.get(key), self._ledger.groups.get(key)
        if record is not None:
            return pod_reference(record.facts)
        return group_reference(group.facts) if group is not None and group.facts else None

"""Tells waiting pods why they wait: an event per pod, and one per gang (section 9)."""

import logging
from collections import OrderedDict
from collections.abc import Callable, Hashable
from hashlib import blake2b
from itertools import islice
from sys import intern
from typing import Final

from ...cluster.events.events import EventRecorder
from ...loop.time_slice import TimeSlice
from ...quota.decisions.holders import with_holders
from ...quota.ledger.groups.pod_group_state import PodGroupState
from ...quota.ledger.ledger import Ledger
from ...quota.pods.pod_record import PodRecord
from ...quota.release.refusals import Refusal, next_refusals
from ...quota.release.release_judge import judge_member
from ...quota.verdict import Outcome, Verdict
from ...quota.words import MOST_LISTED, show
from ..later import Timer
from ..references import group_reference, pod_reference
from .groups.group_conditions import GroupConditions

_LOG = logging.getLogger(__name__)
_LONGEST_TOPIC: Final = 128
"""Characters."""
_DELAY: Final = 10.0
"""Seconds after which a pod is told that its group, or members of it, are missing."""
_LOOK_AGAIN: Final = 0.5
"""Seconds between two checks whether events can be taken again."""
_AT_A_TIME: Final = 16
"""Delayed pods that one step tells, at most."""


class WaitReports:
    """Tells waiting pods why they wait, in slices. `look` names a queue that may have pods to tell;
    `go_on` tells some of them. Belongs to the ledger's loop; awaits nothing.

    Guarantees: a waiting pod is told why, once per change of the reason, as soon as events can be
    taken. Queues take turns. Memory is bounded by the queues and the waiting pods.
    Not guaranteed: that a reason is still the latest when it is told.
    """

    def __init__(
        self,
        ledger: Ledger,
        events: EventRecorder,
        conditions: GroupConditions | None = None,
        *,
        clock: Callable[[], float],
        later: Callable[[float], Timer],
    ) -> None:
        """`clock`: seconds, monotonic. `later`: have `go_on` called after so many seconds.
        `conditions` are told which groups wait; then those are told, too, that are no gangs.
        """
        self._ledger = ledger
        self._events = events
        self._conditions = conditions
        self._clock = clock
        self._later = later
        self._timer: Timer | None = None
        self._queues: OrderedDict[str, None] = OrderedDict()
        """Queues in which pods may have to be told."""
        self._delayed: OrderedDict[str, float] = OrderedDict()
        """By uid: pods that are told only if they still wait at this time. The latest is last."""

    def look(self, queue: str) -> None:
        """A pod that waits in this queue may not have been told why."""
        self._queues[queue] = None

    def go_on(self, slice_: TimeSlice) -> bool:
        """Tell some pods. Returns whether more can be told at once. If the rest has to wait for a
        time, `later` is used.
        """
        while not slice_.over:
            if not self._events.has_room:
                if self._queues or self._delayed:
                    self._at(_LOOK_AGAIN)
                return False
            if not self._tell_delayed(slice_) and not self._tell_next():
                break
        if self._queues:
            return True
        if self._delayed:
            # The slice is over, so the first of them may be due.
            self._at(max(0.0, next(iter(self._delayed.values())) - self._clock()))
        return False

    def stop(self) -> None:
        """Tell nothing more."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        self._queues.clear()
        self._delayed.clear()

    def _at(self, seconds: float) -> None:
        if self._timer is not None:
            self._timer.cancel()
        self._timer = self._later(seconds)

    def _tell_next(self) -> bool:
        """Tell some pods of the queue whose turn it is. Returns whether there is such a queue."""
        if not self._queues:
            return False
        queue, _ = self._queues.popitem(last=False)
        account = self._ledger.account(queue)
        refusals = next_refusals(self._ledger, account) if account is not None else None
        if refusals is None:
            return True
        self._queues[queue] = None
        for refusal in refusals:
            self._tell(refusal)
        return True

    def _tell(self, refusal: Refusal) -> None:
        if refusal.verdict.outcome is Outcome.UNSEEN:
            # Groups and members arrive one after the other: tell only if they do not arrive.
            due = self._clock() + _DELAY
            for record in refusal.pods:
                self._delayed.setdefault(record.facts.uid, due)
            return
        for record in refusal.pods:
            self._record(refusal.verdict, record)
            self._record_group_of(refusal.verdict, record)
        self._record_gang(refusal.verdict, refusal.gang)

    def _tell_delayed(self, slice_: TimeSlice) -> bool:
        """Tell pods that still wait after their delay why they wait now, at least one. Returns
        whether any was due.
        """
        now = self._clock()
        due = [uid for uid, at in islice(self._delayed.items(), _AT_A_TIME) if at <= now]
        verdicts: dict[Hashable, Verdict] = {}
        for number, uid in enumerate(due):
            if number and slice_.over:
                break
            del self._delayed[uid]
            record = self._ledger.pods.get(uid)
            if record is None or not record.releasable:
                continue
            # Pods of a class are equal in all that is judged.
            pod_class = record.queue, record.class_key
            verdict = verdicts.get(pod_class)
            if verdict is None:
                verdict = verdicts[pod_class] = judge_member(self._ledger, record)
            if verdict.outcome is Outcome.UNSEEN:
                self._record(verdict, record)
                self._record_group_of(verdict, record)
                group = self._ledger.groups.get(record.facts.group)
                self._record_gang(verdict, group if group is not None and group.gang else None)
        return bool(due)

    def _record(self, verdict: Verdict, record: PodRecord) -> None:
        if verdict.reason is None:
            return
        words = (verdict.reason, intern(_topic(verdict, record)))
        if record.told == words:
            return
        record.told = words
        found = pod_reference(record.facts)
        text = with_holders(self._ledger, record.facts, verdict).text
        _LOG.info("%s/%s waits: %s", show(found.namespace), show(found.name), text)
        self._events.record(found, type="Warning", reason=words[0], message=text, topic=words[1])

    def _record_group_of(self, verdict: Verdict, record: PodRecord) -> None:
        """A pod waits whose group is no gang, and of which nothing was let through: so does it."""
        group = self._ledger.groups.get(record.facts.group) if record.facts.group else None
        if self._conditions is None or group is None or group.gang or group.let_through:
            return
        self._record_gang(verdict, group, record.facts.uid)

    def tell_group(self, verdict: Verdict, group: PodGroupState) -> None:
        """A group waits to be enqueued, and no place in the order is kept for it (V3)."""
        self._record_gang(verdict, group)

    def _record_gang(self, verdict: Verdict, gang: PodGroupState | None, pod: str = "") -> None:
        if verdict.reason is None or gang is None or gang.facts is None:
            return
        text = verdict.text
        if self._conditions is not None:
            if self._conditions.has(gang, verdict.reason, verdict.queue):
                return
            text = self._conditions.waits(gang, verdict.reason, text, verdict.queue, pod)
        found = group_reference(gang.facts)
        if self._events.last_reason(found.uid) != verdict.reason:
            _LOG.info("%s/%s waits: %s", show(found.namespace), show(found.name), text)
        self._events.record(
            found,
            type="Warning",
            reason=verdict.reason,
            message=text,
            topic=intern(verdict.queue),
        )


def _topic(verdict: Verdict, record: PodRecord) -> str:
    """What is asked for: a pod that asks another queue, or for another card, gets a new answer.

    It is remembered for every pod that was told, so a long topic is replaced by its digest (P8).
    """
    request = record.request
    named = request.cards[:MOST_LISTED] if request and record.facts.card_text is not None else ()
    topic = " ".join((verdict.queue, *named))
    if len(topic) <= _LONGEST_TOPIC:
        return topic
    return blake2b(topic.encode(errors="replace"), digest_size=16).hexdigest()

"""Tells waiting pods why they wait: an event per pod, and one per gang (section 9)."""

import logging
import math
from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterator
from hashlib import blake2b
from itertools import islice
from sys import intern
from typing import Final

from ...cluster.events.event import MESSAGE_BYTES
from ...cluster.events.events import EventRecorder
from ...loop.time_slice import TimeSlice
from ...quota.advice import Advice, advice_of
from ...quota.decisions.holders import lacked, with_holders
from ...quota.decisions.probably_meant import with_group_meant
from ...quota.ledger.groups.group_facts import GroupFacts
from ...quota.ledger.groups.pod_group_state import PodGroupState
from ...quota.ledger.ledger import Ledger
from ...quota.pods.pod_record import PodRecord
from ...quota.release.refusals import Refusal, next_refusals
from ...quota.release.release_judge import judge_member
from ...quota.verdict import Outcome, Verdict
from ...quota.vocabulary import Reason
from ...quota.words import MOST_LISTED, show
from ..later import Timer
from ..references import group_reference, pod_reference
from .event_renewals import EventRenewals
from .groups.group_conditions import GroupConditions, GroupWait

_LOG = logging.getLogger(__name__)
_LONGEST_TOPIC: Final = 128
"""Characters."""
_DELAY: Final = 10.0
"""Seconds after which a pod is told that its group, or members of it, are missing."""
_LOOK_AGAIN: Final = 0.5
"""Seconds between two checks whether events can be taken again."""
_AT_A_TIME: Final = 16
"""Delayed pods that one step tells, at most."""
_WAITING: Final = 32
"""Events that wait to be written, above which none is renewed: who knows nothing goes first. Those
of namespaces where they fail do not count, or one of these would stop all others."""


class WaitReports:
    """Tells waiting pods why they wait, in slices. `look` names a queue that may have pods to tell;
    `go_on` tells some of them. Belongs to the ledger's loop; awaits nothing.

    Guarantees: a waiting pod is told why, once per change of the reason, as soon as events can be
    taken; if very many get another reason together, most of them in turn, with what holds then.
    Queues take turns. Whoever waits when a term begins is told, in turn if he may know. An event is
    renewed, with the numbers of then, after `renew_after`; and at its turn if the advice has
    changed, as after a change of the quota, or if an earlier leader may have written it: of these
    `renewals_per_second` at most, none of which a first event waits for. That only what is in use
    has changed is told to nobody.
    Memory is bounded by the queues and the waiting pods.
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
        renew_after: float = math.inf,
        renewals_per_second: float = 20.0,
        told_before: str = "",
    ) -> None:
        """`clock`: seconds, monotonic. `later`: have `go_on` called after so many seconds.
        `conditions` are told which groups wait; then those are told, too, that are no gangs.

        `renew_after`: seconds; infinite: events are not renewed because of their age. `told_before`
        (RFC 3339): who was created up to then may have been told by an earlier leader; empty:
        there was none.
        """
        self._ledger = ledger
        self._events = events
        self._conditions = conditions
        self._clock = clock
        self._later = later
        self._timer: Timer | None = None
        self._told_before = told_before
        self._renewals = EventRenewals(
            after=renew_after, per_second=renewals_per_second, clock=clock, waits=self._waits
        )
        self._queues: OrderedDict[str, None] = OrderedDict()
        """Queues in which pods may have to be told."""
        self._groups: OrderedDict[str, None] = OrderedDict()
        """By key: groups whose event is to be renewed now."""
        self._delayed: OrderedDict[str, float] = OrderedDict()
        """By uid: pods that are told only if they still wait at this time. The latest is last."""
        self._begins: Iterator[None] | None = self._begin()
        """Its steps go through all who wait when the term begins. None: it is over."""

    def look(self, queue: str) -> None:
        """A pod that waits in this queue may not have been told why."""
        self._queues[queue] = None

    def is_known(self, uid: str) -> bool:
        """Whether a pod that waits was told why, or may have been by an earlier leader."""
        return uid in self._renewals

    def go_on(self, slice_: TimeSlice) -> bool:
        """Tell some pods. Returns whether more can be told at once. If the rest has to wait for a
        time, `later` is used.
        """
        if not self._has_begun(slice_):
            return True
        while not slice_.over:
            if not self._events.has_room:
                if self._queues or self._delayed or self._groups or self._renewals.wait is not None:
                    self._at(_LOOK_AGAIN)
                return False
            if not self._tell_delayed(slice_) and not self._tell_next() and not self._renew_group():
                break
        if self._events.sound <= _WAITING:
            self._give_turns()
        if self._queues or self._groups:
            return True
        wait = self._wait()
        if wait is not None:
            self._at(wait)
        return False

    def _wait(self) -> float | None:
        """Seconds until there is something to do; None: there is nothing."""
        waits = list[float]()
        if self._delayed:
            # The slice is over, so the first of them may be due.
            waits.append(max(0.0, next(iter(self._delayed.values())) - self._clock()))
        renewal = self._renewals.wait
        if renewal is not None:
            waits.append(max(renewal, _LOOK_AGAIN if self._events.sound > _WAITING else 0.0))
        return min(waits, default=None)

    def _has_begun(self, slice_: TimeSlice) -> bool:
        """Go on with the beginning of the term. Returns whether it is over."""
        if self._begins is not None:
            for _ in self._begins:
                if slice_.over:
                    return False
            self._begins = None
        return True

    def _begin(self) -> Iterator[None]:
        """Have everybody told who waits already. What the pending queues know of who was told is of
        an earlier term of ours: others may have led since, and the events may be gone.
        """
        for queue in [account.name for account in self._ledger.accounts()]:
            account = self._ledger.account(queue)
            if account is not None and (account.pending.classes or account.pending.groups):
                yield from account.pending.tell_all_again()
                self._queues[queue] = None
            yield

    def stop(self) -> None:
        """Tell nothing more."""
        self._begins = None
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        self._queues.clear()
        self._delayed.clear()
        self._groups.clear()
        self._renewals.clear()

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
        advice = advice_of(refusal.verdict)
        for record in refusal.pods:
            self._record(refusal.verdict, record, advice)
            self._record_group_of(refusal.verdict, record, advice)
        self._record_gang(refusal.verdict, refusal.gang, advice)

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
                advice = advice_of(verdict)
                self._record(verdict, record, advice)
                self._record_group_of(verdict, record, advice)
                group = self._ledger.groups.get(record.facts.group)
                gang = group if group is not None and group.gang else None
                self._record_gang(verdict, gang, advice)
        return bool(due)

    # --- pods ---------------------------------------------------------------------------------

    def _record(self, verdict: Verdict, record: PodRecord, advice: Advice) -> None:
        if verdict.reason is None:
            return
        uid, before = record.facts.uid, record.told
        told = (verdict.reason, intern(_topic(verdict, record)), advice)
        again = self._renewals.has_turn(uid)
        if not again and not self._is_news(told, record):
            return
        record.told = told
        self._renewals.written(uid)
        found = pod_reference(record.facts)
        said = with_group_meant(self._ledger, record.facts, verdict)
        text = with_holders(self._ledger, record.facts, said, most=MESSAGE_BYTES).text
        if before != told:
            _LOG.info("%s/%s waits: %s", show(found.namespace), show(found.name), text)
        self._events.record(
            found,
            type="Warning",
            reason=told[0],
            message=text,
            topic=told[1],
            renewable=True,
            again=again,
        )

    def _is_news(self, told: tuple[str, str, Advice], record: PodRecord) -> bool:
        """Whether a pod is to be told at once: it knows nothing, or another reason and few others
        got one. Who knows the reason, but not the advice, gets a turn.
        """
        uid, before = record.facts.uid, record.told
        if before is None:
            earlier = record.facts.created <= self._told_before
            if not earlier or self._events.last_reason(uid) is not None:
                return True
            self._renewals.outdated(uid)
            return False
        if before[:2] != told[:2]:
            if self._renewals.at_once():
                return True
            self._renewals.outdated(uid)
            return False
        account = self._ledger.account(record.queue)
        limit = account.limit if account is not None else None
        if told[2].outdates(before[2], limit) or uid not in self._renewals:
            # The latter was told in an earlier term of ours.
            self._renewals.outdated(uid)
        return False

    def _waits(self, key: str) -> bool:
        """Whether a pod, or a group, still waits. No pod's uid has a slash."""
        if "/" in key:
            group = self._ledger.groups.get(key)
            return group is not None and group.waits
        record = self._ledger.pods.get(key)
        return record is not None and record.gated and not record.facts.terminating

    # --- groups -------------------------------------------------------------------------------

    def _record_group_of(self, verdict: Verdict, record: PodRecord, advice: Advice) -> None:
        """A pod waits of whose group nothing was let through: so does the group, if it is no gang,
        or waits behind others. Why else a gang waits it is told itself.
        """
        group = self._ledger.groups.get(record.facts.group) if record.facts.group else None
        if self._conditions is None or group is None or group.let_through:
            return
        if not group.gang:
            self._record_gang(verdict, group, advice, record.facts.uid)
        elif verdict.reason is Reason.BEHIND:
            self._record_gang(verdict, group, advice)

    def tell_group(self, verdict: Verdict, group: PodGroupState) -> None:
        """A group waits to be enqueued, and no place in the order is kept for it (V3)."""
        self._record_gang(verdict, group, advice_of(verdict))

    def _record_gang(
        self, verdict: Verdict, gang: PodGroupState | None, advice: Advice, pod: str = ""
    ) -> None:
        if verdict.reason is None or gang is None or gang.facts is None:
            return
        text, uid = verdict.text, gang.facts.uid
        again = self._renewals.has_turn(gang.key)
        if self._conditions is not None:
            if not again and self._conditions.has(gang, verdict.reason, verdict.queue, advice):
                return
            known = self._conditions.has(gang, verdict.reason, verdict.queue) or (
                # In an earlier term of ours.
                self._events.was_last(uid, verdict.reason, verdict.queue)
            )
            text = self._conditions.waits(
                gang, verdict.reason, text, verdict.queue, pod, advice, lacked(verdict)
            )
            earlier = gang.facts.created <= self._told_before
            last = self._events.last_reason(uid)
            unsure = earlier and last is None
            if not again and (known or unsure or (last and not self._renewals.at_once())):
                self._renewals.outdated(gang.key)
                return
            self._renewals.written(gang.key)
        self._record_group(gang.facts, verdict.reason, text, verdict.queue, again=again)

    def _record_group(
        self, facts: GroupFacts, reason: str, text: str, queue: str, *, again: bool = False
    ) -> None:
        found = group_reference(facts)
        if self._events.last_reason(found.uid) != reason:
            _LOG.info("%s/%s waits: %s", show(found.namespace), show(found.name), text)
        self._events.record(
            found,
            type="Warning",
            reason=reason,
            message=text,
            topic=intern(queue),
            renewable=True,
            again=again,
        )

    # --- renewals -----------------------------------------------------------------------------

    def _give_turns(self) -> None:
        """Have those told again whose turn it is: with the words that a look at them gives then."""
        for key in self._renewals.take():
            if "/" in key:
                self._groups[key] = None
                continue
            record = self._ledger.pods[key]
            account = self._ledger.account(record.queue)
            if account is not None:
                account.pending.tell_again(record)
                self._queues[record.queue] = None

    def _renew_group(self) -> bool:
        """Renew the event of one group: it may be a large gang that is judged. Returns whether
        there was any.
        """
        if not self._groups:
            return False
        key, _ = self._groups.popitem(last=False)
        if not self._renewals.has_turn(key):
            return True  # it was told meanwhile
        group = self._ledger.groups.get(key)
        wait = None
        if group is not None and self._conditions is not None:
            if self._is_asked(group, self._conditions.asks_its_queue(group)):
                return True
            wait = self._conditions.wait_of(group)
        if group is None or group.facts is None or wait is None:
            self._renewals.forget(key)
            return True
        self._renewals.written(key)
        self._record_group(group.facts, wait.reason, wait.text, wait.queue, again=True)
        return True

    def _is_asked(self, group: PodGroupState, wait: GroupWait | None) -> bool:
        """Have a group told in the words that the next look at its queue gives. Returns whether it
        will be.
        """
        account = self._ledger.account(wait.queue) if wait is not None else None
        if wait is None or account is None:
            return False
        self._queues[wait.queue] = None
        if group.gang or group.asks is not None:
            return account.pending.tell_group_again(group)
        record = self._ledger.pods.get(wait.pod)
        if record is None:
            return False
        account.pending.tell_again(record)
        return True


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

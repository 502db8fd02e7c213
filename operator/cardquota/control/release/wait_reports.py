"""Tells waiting pods and groups why they wait: an event at each change of the reason (I4); and a
gang as a whole that it does not start, runs in part, or that its time is over.

The API server drops an event an hour after its last write (`--event-ttl`). So the head of each
queue, for whom the others wait, has its event written again while it waits. Whoever wants to know
more, or later, asks (F5).
"""

import logging
import math
from collections import OrderedDict, deque
from collections.abc import Callable, Hashable
from hashlib import blake2b
from itertools import islice
from sys import intern
from typing import Final

from ...cluster.events import (
    MESSAGE_BYTES,
    EventRecorder,
    ObjectReference,
    group_reference,
    pod_reference,
)
from ...loop.timing import Timer, TimeSlice
from ...quota import vocabulary as v
from ...quota.accounts.account import Account
from ...quota.amounts import Amount, is_card
from ...quota.decisions.verdict_texts import lacked, with_group_meant, with_holders
from ...quota.ledger.groups.pod_group_state import PodGroupState
from ...quota.ledger.ledger import Ledger
from ...quota.ledger.ledger_reader import LedgerReader
from ...quota.messages import gang_messages
from ...quota.pending.candidate import Candidate
from ...quota.pods.pod_facts import PodFacts
from ...quota.pods.pod_record import PodRecord
from ...quota.release.cycle import Refusal, next_refusals
from ...quota.release.release_judge import ReleaseJudge, Wait, judge_member
from ...quota.stamp import Reservation
from ...quota.verdict import Outcome, Verdict
from ...quota.vocabulary import Reason
from ...quota.words import MOST_LISTED, logged, show
from .group_conditions import GroupConditions

_LOG = logging.getLogger(__name__)
_LONGEST_TOPIC: Final = 128
"""Characters."""
_DELAY: Final = 10.0
"""Seconds after which a pod is told that its group, or members of it, are missing."""
_LOOK_AGAIN: Final = 0.5
"""Seconds between two checks whether events can be taken again."""
_AT_A_TIME: Final = 16
"""Delayed pods that one step tells, at most."""
AT_ONCE: Final = 256
"""Events that are told at once, if none was for some seconds."""
PER_SECOND: Final = 50
"""Events that are told in a second. Thousands may get another reason together, as when somebody
closes and opens a queue again and again, or when a term begins."""
_SWEEPS: Final = 10
"""How often the heads are looked at while an event gets old."""


class WaitReports:
    """Tells waiting pods why they wait, in slices. `look` names a queue that may have pods to tell;
    `go_on` tells some of them. Belongs to the ledger's loop; awaits nothing.

    Guarantees: a waiting pod or group is told why, once per change of the reason, as soon as events
    can be taken; 256 at once, and then 50 in a second, with what holds then. Queues take turns.
    Whoever waits when a term begins is told, since nobody knows what the leader before has told.
    The head of each queue is told again `renew_after` its last event, with the numbers of then.
    Memory is bounded by the queues and the waiting pods.
    Not guaranteed: that a reason is still the latest when it is told.
    """

    def __init__(
        self,
        ledger: Ledger,
        events: EventRecorder,
        conditions: GroupConditions,
        *,
        clock: Callable[[], float],
        later: Callable[[float], Timer],
        renew_after: float = math.inf,
    ) -> None:
        """`clock`: seconds, monotonic. `later`: have `go_on` called after so many seconds.
        `conditions` are told which groups wait.

        `renew_after`: seconds, that of `events`; infinite: no event is written again.
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
        self._spare, self._counted_at = float(AT_ONCE), clock()
        """How many events may be told at once, and when that was counted."""
        self._sweep_every = renew_after / _SWEEPS
        self._sweep_at = clock() + self._sweep_every
        self._to_sweep: deque[str] = deque()
        """Queues whose head is still to be looked at in this sweep."""
        self._begin()

    def look(self, queue: str) -> None:
        """A pod that waits in this queue may not have been told why."""
        self._queues[queue] = None

    def go_on(self, slice_: TimeSlice) -> bool:
        """Tell some pods. Returns whether more can be told at once. If the rest has to wait for a
        time, `later` is used.
        """
        while not slice_.over:
            if not self._events.has_room:
                self._at(_LOOK_AGAIN)
                return False
            if (wait := self._wait_for_turn()) > 0:
                self._at(wait)
                return False
            if not (self._tell_delayed(slice_) or self._tell_next() or self._look_at_head()):
                break
        if self._queues or self._to_sweep:
            return True
        # The slice is over, so the first of the delayed may be due.
        due = min(next(iter(self._delayed.values()), math.inf), self._sweep_at)
        if due < math.inf:
            self._at(max(0.0, due - self._clock()))
        return False

    def stop(self) -> None:
        """Tell nothing more."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        self._queues.clear()
        self._delayed.clear()
        self._to_sweep.clear()
        self._sweep_at = math.inf

    def _begin(self) -> None:
        """Have everybody told who waits already. What is known of who was told is of an earlier
        term of ours: others may have led since.
        """
        for account in self._ledger.accounts():
            if account.pending.classes or account.pending.groups:
                for uid in account.pending.uids():
                    self._ledger.pods[uid].notified = None
                account.pending.tell_all_again()
                self._queues[account.name] = None

    def _at(self, seconds: float) -> None:
        if self._timer is not None:
            self._timer.cancel()
        self._timer = self._later(seconds)

    def _wait_for_turn(self) -> float:
        """Seconds until one more may be told."""
        now = self._clock()
        self._spare = min(AT_ONCE, self._spare + (now - self._counted_at) * PER_SECOND)
        self._counted_at = now
        return 0.0 if self._spare >= 1.0 else (2.0 - self._spare) / PER_SECOND

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
        self.tell_group(refusal.verdict, refusal.gang)

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
                self.tell_group(verdict, group if group is not None and group.gang else None)
        return bool(due)

    # --- pods ---------------------------------------------------------------------------------

    def _record(self, verdict: Verdict, record: PodRecord, *, again: bool = False) -> None:
        """`again`: also if the pod was told this."""
        if verdict.reason is None:
            return
        notified = verdict.reason, intern(_topic(verdict, record))
        if record.notified == notified and not again:
            return
        record.notified = notified
        said = with_group_meant(self._ledger, record.facts, verdict)
        text = with_holders(self._ledger, record.facts, said, most=MESSAGE_BYTES).text
        self._write(pod_reference(record.facts), *notified, text)

    def _write(self, about: ObjectReference, reason: str, topic: str, text: str) -> None:
        self._spare -= 1
        _LOG.info("%s/%s waits: %s", show(about.namespace), show(about.name), text)
        self._events.record(
            about,
            type="Warning",
            reason=reason,
            message=text,
            topic=topic,
            renewable=True,
            again=True,
        )

    # --- groups -------------------------------------------------------------------------------

    def _record_group_of(self, verdict: Verdict, record: PodRecord, *, again: bool = False) -> None:
        """A pod waits of whose group nothing was released: so does the group, if it is no gang,
        or waits behind others. Why else a gang waits it is told itself.
        """
        group = self._ledger.groups.get(record.facts.group) if record.facts.group else None
        if group is None or group.released:
            return
        if not group.gang:
            self.tell_group(verdict, group, record, again=again)
        elif verdict.reason is Reason.BEHIND:
            self.tell_group(verdict, group)

    def tell_group(
        self,
        verdict: Verdict,
        gang: PodGroupState | None,
        pod: PodRecord | None = None,
        *,
        again: bool = False,
    ) -> None:
        """A group waits; if to be enqueued, a place in the order need not be kept for it (V3).

        `pod`: the one that waits, of a group that is no gang. `again`: also if it was told.
        """
        if verdict.reason is None or gang is None or gang.facts is None:
            return
        reason, queue = verdict.reason, verdict.queue
        if self._conditions.has(gang, reason, queue) and not again:
            return
        text = self._conditions.waits(gang, reason, verdict.text, queue, lacked(verdict), pod)
        self._write(group_reference(gang.facts), reason, intern(queue), text)

    # --- heads of queues ----------------------------------------------------------------------

    def _look_at_head(self) -> bool:
        """Look at the head of one queue, if it is time for that. Returns whether it was."""
        now = self._clock()
        if now >= self._sweep_at:
            self._sweep_at = now + self._sweep_every
            self._to_sweep.extend(account.name for account in self._ledger.accounts())
        if not self._to_sweep:
            return False
        account = self._ledger.account(self._to_sweep.popleft())
        head = _head(account) if account is not None else None
        if account is not None and head is not None:
            self._renew(account, head)
        return True

    def _renew(self, account: Account, head: Candidate) -> None:
        """Tell it again in the words of now, if its event is old. If it has another reason by now,
        that is told without this.
        """
        gang = head.gang or head.group_to_enqueue
        group = self._ledger.groups.get(gang.key) if gang is not None else None
        record = self._ledger.pods.get(head.sort_key.uid) if gang is None else None
        facts = group.facts if group is not None else record.facts if record is not None else None
        if facts is None or not self._events.is_due(facts.uid):
            return
        found = ReleaseJudge(self._ledger, account).judge(head)
        if not isinstance(found, Wait) or found.verdict.reason is not head.classes[0].reason:
            return
        if record is not None:
            self._record(found.verdict, record, again=True)
            self._record_group_of(found.verdict, record, again=True)
        self.tell_group(found.verdict, group, again=True)


def _head(account: Account) -> Candidate | None:
    """Who is first in the order of release among those who were told a reason."""
    waiting = [one.candidate for one in account.pending.classes.values() if one.candidate]
    waiting.extend(account.pending.groups.values())
    notified = (one for one in waiting if one.classes[0].reason is not None)
    return min(notified, key=lambda one: one.indexed_key, default=None)


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


_UNDECIDED: Final = "is undecided"
"""The topic of such an event: something is held for the group. No pod can have this name."""
_KEPT: Final = "is kept"


class GangReports:
    """Events on a PodGroup about its gang as a whole. Belongs to the ledger's loop."""

    def __init__(
        self,
        ledger: LedgerReader,
        events: EventRecorder,
        conditions: GroupConditions,
        *,
        timeout: float,
    ) -> None:
        """`timeout`: seconds after which a reservation is given back. `conditions` are told which
        groups wait.
        """
        self._ledger = ledger
        self._events = events
        self._conditions = conditions
        self._timeout = timeout

    def not_started(self, gang: PodGroupState, pod: PodFacts, answer: str) -> None:
        """The opening of one pod's gate is refused, so no pod of the gang is started."""
        text = gang_messages.gang_refused(pod.name, answer)
        self._tell(gang, v.GATE_REFUSED, text, pod.name, waits=True)

    def not_reserved(self, gang: PodGroupState, answer: str) -> None:
        """Writing the group's reservation is refused, so no pod of it is started."""
        self._tell(gang, v.GATE_REFUSED, gang_messages.gang_not_reserved(answer), waits=True)

    def enqueued(self, group: PodGroupState, reservation: Reservation) -> None:
        """Its request is reserved, before its pods are there (E1)."""
        if group.facts is None:
            return
        self._events.forget(group.facts.uid)  # that it waits again would be news
        self._conditions.forget(group.key)
        text = gang_messages.enqueued(reservation.queue, reservation.amounts, self._timeout)
        self._events.record(
            group_reference(group.facts), type="Normal", reason=v.ENQUEUED, message=text
        )

    def not_enqueued(self, group: PodGroupState, answer: str) -> None:
        """Writing the reservation of a group that is to be enqueued is refused."""
        self._tell(group, v.GATE_REFUSED, gang_messages.group_not_enqueued(answer), waits=True)

    def unsure(self, gang: PodGroupState, reservation: Reservation, answer: str) -> None:
        """It is not known whether its reservation was written, and writing it again fails."""
        text = gang_messages.gang_undecided(reservation.queue, reservation.amounts, answer)
        self._tell(gang, v.GATE_REFUSED, text, _UNDECIDED)

    def backed_off(self, gang: PodGroupState, namespace: str, failures: int) -> None:
        """There is room, but gates of its namespace do not open; other gangs are tried."""
        text = gang_messages.gang_held_back(namespace, failures)
        self._tell(gang, v.GATE_REFUSED, text, namespace, waits=True)

    def in_part(self, gang: PodGroupState, pod: PodFacts, opened: int) -> None:
        """A gate is refused after other pods of the gang were released."""
        text = gang_messages.gang_in_part(pod.name, opened, gang.minimum, self._timeout)
        self._tell(gang, v.GATE_REFUSED, text, pod.name)

    def expired(self, key: str) -> None:
        """The time of its reservation is over (E8)."""
        gang = self._ledger.groups.get(key)
        if gang is None or gang.reservation is None:
            return
        queue = gang.reservation.queue
        rest = _outstanding(gang, gang.reservation)
        least, running = max(1, gang.minimum), gang.bound + len(gang.succeeded)
        if gang.enqueued:
            text = gang_messages.request_expired(
                queue, gang.members_existing, least, self._timeout, rest
            )
        else:
            cards = {dimension for _, dimension in gang.holds if is_card(dimension)}
            mixed = self._ledger.with_volcano and len(cards) > 1
            text = gang_messages.reservation_expired(
                queue, running, least, self._timeout, rest, mixed=mixed
            )
        if gang.facts is not None:
            self._events.forget(gang.facts.uid)  # each expiry is news
        self._tell(gang, v.RESERVATION_EXPIRED, text, waits=True)

    def not_given_back(self, key: str, answer: str) -> None:
        """Removing a reservation that is over is refused."""
        gang = self._ledger.groups.get(key)
        if gang is None or gang.reservation is None:
            return
        rest = _outstanding(gang, gang.reservation)
        if rest:
            text = gang_messages.reservation_kept(gang.reservation.queue, rest, answer)
            self._tell(gang, v.RESERVATION_EXPIRED, text, _KEPT)

    def _tell(
        self, gang: PodGroupState, reason: str, text: str, topic: str = "", *, waits: bool = False
    ) -> None:
        """`waits`: whether the whole group waits, for this reason."""
        if gang.facts is None:
            return
        if waits:
            self._conditions.waits(gang, reason, text)
        _LOG.warning("%s: %s", logged(gang.key), text)
        # Who is tried again and waits all the same is told of each time: so none is missing long.
        self._events.record(
            group_reference(gang.facts),
            type="Warning",
            reason=reason,
            message=text,
            topic=topic,
            renewable=waits,
        )


def _outstanding(gang: PodGroupState, reservation: Reservation) -> list[Amount]:
    """What is still reserved beyond what its members hold, cards first."""
    rest = [(d, n) for d, _ in reservation.amounts if (n := gang.outstanding(d))]
    return sorted(rest, key=lambda row: (not is_card(row[0]), row[0]))

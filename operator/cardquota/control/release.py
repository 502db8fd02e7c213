"""The release door: whose gate opens next. It alone charges, and only while we lead.

Charge first, then patch, many in flight; a gang's reservation is written before its first gate
opens. Whoever waits on is told why, once per reason. Of a pod that somebody bound to other cards
than it was let through for, the stamp is put right.
"""

import asyncio
from collections.abc import Callable, Coroutine, Sequence
from itertools import islice
from typing import Any, Final, NamedTuple

from ..cluster.events import EventRecorder
from ..metrics import Metrics
from ..quota import messages
from ..quota import vocabulary as v
from ..quota.group_book import GroupBook
from ..quota.ledger import Ledger
from ..quota.pod_facts import PodFacts
from ..quota.release_order import queue_order
from ..quota.release_pass import Opening, Refusal, openings
from ..quota.stamp import Reservation, Stamp
from .gang_reports import GangReports
from .gate import GateOpener, Opened
from .groups import GroupKeeper
from .references import pod_reference
from .refusals import Refusals
from .reservation_timeouts import ReservationTimeouts
from .retries import Retries
from .stamp_keeper import StampKeeper
from .suspects import Suspects

_TRY_AGAIN: Final = 1.0
"""Seconds after which what failed is tried again for the first time, if no news of it came."""
_AT_MOST: Final = 60.0
"""Seconds between two tries of what fails again and again."""
_AT_A_TIME: Final = 64
"""Answers worked out before the loop gets a breath."""


class _Sending(NamedTuple):
    """A gate whose first patch is not answered yet."""

    facts: PodFacts
    stamp: Stamp
    resource: str
    suspect: bool
    """What `Suspects.begin` said."""


class ReleaseDoor:
    """Opens gates under one term. Made anew for every term; `wake` may be called at any time."""

    def __init__(
        self,
        ledger: Ledger,
        gate: GateOpener,
        groups: GroupKeeper,
        stamps: StampKeeper,
        events: EventRecorder,
        metrics: Metrics,
        *,
        term: str,
        in_flight: int,
        reservation_timeout: float,
        clock: Callable[[], float],
    ) -> None:
        self._ledger = ledger
        self._gate = gate
        self._groups = groups
        self._stamps = stamps
        self._events = events
        self._metrics = metrics
        self._timeouts = ReservationTimeouts(reservation_timeout, self._expired)
        self._reports = GangReports(ledger, events, timeout=reservation_timeout)
        self._term = term
        self._in_flight = in_flight
        self._clock = clock
        self._refusals = Refusals(ledger, events)
        self._wake = asyncio.Event()
        self._woken_at = clock()
        self._tasks: set[asyncio.Task[Any]] = set()
        self._failure: BaseException | None = None
        self._sending = 0
        """Gates whose first patch is not answered yet."""
        self._draining = False
        self._kept: set[str] = set()
        """Groups whose phase is being written."""
        self._correcting: set[str] = set()
        """Uids of pods whose stamp is being written, or was so lately that it may not be seen."""
        self._noting = 0
        """How many of them are pods of audit mode whose write is not answered yet."""
        self._suspects = Suspects(in_flight, lambda name: name in ledger.namespaces)
        self._pods = Retries[tuple[str, str]](self._put_back, first=_TRY_AGAIN, cap=_AT_MOST)
        """Pods by namespace and uid."""
        self._keeps = Retries[str](self._look_again, first=_TRY_AGAIN, cap=_AT_MOST)
        """Groups by key."""
        self._corrections = Retries[str](self._see_stamp, first=_TRY_AGAIN, cap=_AT_MOST)
        """Pods by uid."""

    def wake(self) -> None:
        """The ledger moved."""
        if not self._wake.is_set():
            self._woken_at = self._clock()
            self._wake.set()

    async def run(self) -> None:
        """Open gates until cancelled; then what is in flight is abandoned to the settle time.

        An error nobody has thought of ends it: a leader that decides nothing is worse than none.
        """
        self._ledger.begin_term()
        self.wake()
        try:
            while True:
                await self._wake.wait()
                self._wake.clear()
                if self._failure is not None:
                    raise self._failure
                self._pass(self._woken_at)
                await asyncio.sleep(0)
        finally:
            for task in self._tasks:
                task.cancel()
            await asyncio.gather(*self._tasks, return_exceptions=True)
            self._pods.stop()
            self._keeps.stop()
            self._corrections.stop()
            self._timeouts.stop()
            self._ledger.end_term()

    async def drain(self, timeout: float) -> bool:
        """Decide no more; wait until nothing is in flight, at most `timeout` seconds.

        Whether all that was sent is settled: if not, some of it may land yet.
        """
        self._draining = True
        if self._tasks:
            await asyncio.wait(self._tasks, timeout=timeout)
        return not self._tasks and self._failure is None

    def _pass(self, since: float) -> None:
        if self._draining:
            return
        if not self._gate.in_time():
            # The API server does not answer our renewals: either it will soon, or the term ends.
            asyncio.get_running_loop().call_later(_TRY_AGAIN, self.wake)
            return
        for key in self._ledger.news.take_groups():
            self._keep(key)
        self._correct_stamps()
        left = _AT_A_TIME
        for queue in queue_order(self._ledger, self._ledger.news.take_stirred()):
            for found in islice(openings(self._ledger, queue), left):
                left -= 1
                if isinstance(found, Refusal):
                    self._refusals.tell(found)
                elif not self._suspects.may_send(found.pods[0][0].facts.namespace):
                    for record, _ in found.pods:
                        self._hold_back(record.facts)
                elif self._sending < self._in_flight:
                    self._open(found, since)
                else:
                    left = 0
                    break
            if left <= 0:
                self._ledger.news.stir(queue)
        if left <= 0 and self._sending < self._in_flight:
            self._wake.set()

    def _open(self, opening: Opening, since: float) -> None:
        """Charge, then send. Everything that is awaited happens after the charge."""
        if not self._ledger.read_first(record.facts.uid for record, _ in opening.pods):
            # What they were judged by has changed since they were read: in another pass.
            self._ledger.news.stir(opening.queue)
            self.wake()
            return
        reservation = None
        if opening.gang is not None:
            reservation = self._ledger.reserve(
                opening.gang.key, opening.queue, self._term, opening.asked
            )
        pods = []
        for record, cards in opening.pods:
            stamp = Stamp(opening.queue, cards, self._term)
            resource = record.request.resource if record.request else ""
            self._ledger.assume(record.facts.uid, stamp)
            pods.append((record.facts, stamp, resource))
        sendings = self._send(pods)
        if opening.gang is None or reservation is None:
            for sending in sendings:
                self._start(self._open_one(sending, since))
        else:
            self._start(self._open_gang(opening.gang, reservation, sendings, since))

    async def _open_gang(
        self, gang: GroupBook, reservation: Reservation, sendings: list[_Sending], since: float
    ) -> None:
        """A gang starts whole or not at all. So everybody is asked first whether all of its gates
        may be opened: what somebody's webhook refuses for one pod must not leave the others
        running without it for ever.
        """
        answers = await asyncio.gather(
            *(self._gate.would_open(s.facts, s.stamp, s.resource) for s in sendings)
        )
        facts, all_may = gang.facts, all(found is Opened.YES for found, _ in answers)
        if facts is not None and all_may and await self._groups.reserve(facts, reservation):
            self._events.forget(facts.uid)
            opened = await asyncio.gather(*(self._open_one(s, since) for s in sendings))
            self._look_at_start(gang, sendings, opened)
            return
        for sending, (found, _) in zip(sendings, answers, strict=True):
            self._answered(sending, found)
            held_back = all_may or found not in (Opened.YES, Opened.TOO_LATE)
            self._ledger.retract(sending.facts.uid, hold_back=held_back)
            if held_back:
                self._pods.failed((sending.facts.namespace, sending.facts.uid))
        self._ledger.retract_reservation(gang.key, reservation)
        for sending, (found, answer) in zip(sendings, answers, strict=True):
            if found is Opened.REFUSED:
                self._reports.not_started(gang, sending.facts, answer)
                break

    def _look_at_start(
        self, gang: GroupBook, sendings: list[_Sending], opened: Sequence[Opened]
    ) -> None:
        """Somebody may have refused a gate after all."""
        number = opened.count(Opened.YES)
        shut = [s.facts for s, o in zip(sendings, opened, strict=True) if o is Opened.REFUSED]
        if shut and number:
            self._reports.in_part(gang, shut[0], number)
        elif len(shut) == len(sendings):
            self._timeouts.give_up(gang.key, gang)
            self._look_again(gang.key)

    def _send(self, pods: list[tuple[PodFacts, Stamp, str]]) -> list[_Sending]:
        """Take the slots now: the rest of this pass must see them taken."""
        self._sending += len(pods)
        self._events.give_way()
        return [_Sending(*pod, self._suspects.begin(pod[0].namespace)) for pod in pods]

    def _answered(self, sending: _Sending, opened: Opened | None) -> None:
        """Give back a slot. None: nobody answered."""
        worked = None
        if opened in (Opened.YES, Opened.UNKNOWN, Opened.REFUSED):
            worked = opened is Opened.YES
        self._suspects.end(sending.facts.namespace, begun=sending.suspect, worked=worked)
        self._sending -= 1
        if not self._sending:
            self._events.go_on()
        self.wake()

    async def _open_one(self, sending: _Sending, since: float) -> Opened:
        facts, stamp, opened = sending.facts, sending.stamp, None
        try:
            opened = await self._gate.open(facts, stamp, sending.resource)
        finally:
            self._answered(sending, opened)
        if opened is Opened.UNKNOWN:
            opened = await self._gate.settle(facts, stamp)
        if opened is Opened.YES:
            self._pods.worked((facts.namespace, facts.uid))
            self._metrics.release_seconds.observe(max(0.0, self._clock() - since))
            if self._events.last_reason(facts.uid) is not None:
                self._events.record(
                    pod_reference(facts),
                    type="Normal",
                    reason=v.RELEASED,
                    message=self._released(facts, stamp),
                )
        elif opened is not Opened.TOO_LATE:
            self._pods.failed((facts.namespace, facts.uid))
        return opened

    def _released(self, facts: PodFacts, stamp: Stamp) -> str:
        mode = self._ledger.mode_in(facts.namespace)
        if mode is v.Mode.ENFORCE:
            return messages.released(stamp.queue, stamp.cards)
        return messages.released_unasked(stamp.queue, facts.namespace, mode, stamp.cards)

    def _hold_back(self, facts: PodFacts) -> None:
        self._ledger.hold_back(facts.uid)
        self._pods.failed((facts.namespace, facts.uid))

    def _put_back(self, pod: tuple[str, str]) -> None:
        namespace, uid = pod
        if uid not in self._ledger.pods:
            self._pods.worked(pod)
            self._suspects.forget(namespace)
            return
        self._ledger.put_back(uid)
        self.wake()

    def _keep(self, key: str) -> None:
        """Brings a group up to date, one write at a time."""
        if key in self._kept:
            self._ledger.news.stir_group(key)
            return
        self._kept.add(key)
        self._start(self._keep_one(key))

    async def _keep_one(self, key: str) -> None:
        self._timeouts.look(key, self._ledger.groups.get(key))
        try:
            done = await self._groups.keep(key, expired=self._timeouts.over(key))
        finally:
            self._kept.discard(key)
        if done:
            self._keeps.worked(key)
        else:
            self._keeps.failed(key)

    def _expired(self, key: str) -> None:
        """A gang did not complete in time (E8)."""
        self._reports.expired(key)
        self._ledger.lose_place(key)
        self._look_again(key)

    def _look_again(self, key: str) -> None:
        self._ledger.news.stir_group(key)
        self.wake()

    def _correct_stamps(self) -> None:
        """One write at a time for each pod. Of audit mode, which may be all pods, few at once."""
        for uid in sorted(self._ledger.misplaced - self._correcting):
            self._correcting.add(uid)
            self._start(self._correct(uid))
        unnoted = (uid for uid in self._ledger.unnoted if uid not in self._correcting)
        for uid in list(islice(unnoted, _AT_A_TIME - self._noting)):
            self._correcting.add(uid)
            self._noting += 1
            self._start(self._note(uid))

    async def _note(self, uid: str) -> None:
        try:
            await self._correct(uid)
        finally:
            self._noting -= 1

    async def _correct(self, uid: str) -> None:
        await self._stamps.correct(uid)
        # Looked at again in any case, later each time: what was lost is written again, and so is
        # what somebody else took back.
        self._corrections.failed(uid)

    def _see_stamp(self, uid: str) -> None:
        self._correcting.discard(uid)
        if uid in self._ledger.misplaced or uid in self._ledger.unnoted:
            self.wake()
        else:
            self._corrections.worked(uid)

    def _start(self, work: Coroutine[Any, Any, object]) -> None:
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._done)

    def _done(self, task: asyncio.Task[Any]) -> None:
        self._tasks.discard(task)
        if not task.cancelled():
            self._failure = self._failure or task.exception()
        self.wake()

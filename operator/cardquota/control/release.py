"""The release door: whose gate opens next. It alone charges, and only while we lead.

Charge first, then patch, many in flight; a gang's reservation is written before its first gate
opens. Whoever waits on is told why, once per reason. Of a pod that somebody bound to other cards
than it was let through for, the stamp is put right.
"""

import asyncio
from collections.abc import Callable, Coroutine
from itertools import islice
from typing import Any, Final

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
from .gate import GateOpener, Opened
from .groups import GroupKeeper
from .references import pod_reference
from .refusals import Refusals
from .retries import Retries
from .stamp_keeper import StampKeeper
from .suspects import Suspects

_TRY_AGAIN: Final = 1.0
"""Seconds after which what failed is tried again for the first time, if no news of it came."""
_AT_MOST: Final = 60.0
"""Seconds between two tries of what fails again and again."""
_AT_A_TIME: Final = 64
"""Answers worked out before the loop gets a breath."""


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
        clock: Callable[[], float],
    ) -> None:
        self._ledger = ledger
        self._gate = gate
        self._groups = groups
        self._stamps = stamps
        self._events = events
        self._metrics = metrics
        self._term = term
        self._in_flight = in_flight
        self._clock = clock
        self._refusals = Refusals(ledger, events)
        self._wake = asyncio.Event()
        self._woken_at = clock()
        self._tasks: set[asyncio.Task[None]] = set()
        self._failure: BaseException | None = None
        self._sending = 0
        """Gates whose first patch is not answered yet."""
        self._draining = False
        self._kept: set[str] = set()
        """Groups whose phase is being written."""
        self._correcting: set[str] = set()
        """Uids of pods whose stamp is being written, or was so lately that it may not be seen."""
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
        if opening.gang is None or reservation is None:
            for work in self._send(pods, since):
                self._start(work)
        else:
            self._start(self._open_gang(opening.gang, reservation, pods, since))

    async def _open_gang(
        self,
        gang: GroupBook,
        reservation: Reservation,
        pods: list[tuple[PodFacts, Stamp, str]],
        since: float,
    ) -> None:
        facts = gang.facts
        if facts is None or not await self._groups.reserve(facts, reservation):
            for pod, _, _ in pods:
                self._ledger.retract(pod.uid, hold_back=True)
                self._pods.failed((pod.namespace, pod.uid))
            self._ledger.retract_reservation(gang.key, reservation)
            return
        self._events.forget(facts.uid)
        await asyncio.gather(*self._send(pods, since))

    def _send(
        self, pods: list[tuple[PodFacts, Stamp, str]], since: float
    ) -> list[Coroutine[Any, Any, None]]:
        """Take the slots now: the rest of this pass must see them taken."""
        self._sending += len(pods)
        self._events.give_way()
        begun = [self._suspects.begin(facts.namespace) for facts, _, _ in pods]
        return [self._open_one(*pod, since, begun=b) for pod, b in zip(pods, begun, strict=True)]

    async def _open_one(
        self, facts: PodFacts, stamp: Stamp, resource: str, since: float, *, begun: bool
    ) -> None:
        worked = None
        try:
            opened = await self._gate.open(facts, stamp, resource)
            if opened in (Opened.YES, Opened.UNKNOWN, Opened.REFUSED):
                worked = opened is Opened.YES
        finally:
            self._suspects.end(facts.namespace, begun=begun, worked=worked)
            self._sending -= 1
            if not self._sending:
                self._events.go_on()
            self.wake()
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
        try:
            done = await self._groups.keep(key)
        finally:
            self._kept.discard(key)
        if done:
            self._keeps.worked(key)
        else:
            self._keeps.failed(key)

    def _look_again(self, key: str) -> None:
        self._ledger.news.stir_group(key)
        self.wake()

    def _correct_stamps(self) -> None:
        """One write at a time for each pod."""
        for uid in sorted(self._ledger.misplaced - self._correcting):
            self._correcting.add(uid)
            self._start(self._correct(uid))

    async def _correct(self, uid: str) -> None:
        await self._stamps.correct(uid)
        # Looked at again in any case, later each time: what was lost is written again, and so is
        # what somebody else took back.
        self._corrections.failed(uid)

    def _see_stamp(self, uid: str) -> None:
        self._correcting.discard(uid)
        if uid in self._ledger.misplaced:
            self.wake()
        else:
            self._corrections.worked(uid)

    def _start(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._done)

    def _done(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        if not task.cancelled():
            self._failure = self._failure or task.exception()
        self.wake()

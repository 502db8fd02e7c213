"""The decision cycle of the leader: whose gate opens next, in one term.

`GateReleaser` is the table of contents: `_cycle` says what is done in one time slice, `_open` what
is done with one candidate that fits. Pods that wait are told why. If a pod was bound to other cards
than it was released for, its stamp is corrected.
"""

import asyncio
import time
from collections.abc import Callable, Iterator
from itertools import chain, islice
from typing import Final

from ...cluster.events import EventRecorder
from ...loop.ended import ended
from ...loop.time_slice import LEADER_SLICE, Later, TimeSlice, in_loop_later
from ...metrics import Metrics
from ...quota.ledger.groups.pod_group_state import PodGroupState
from ...quota.ledger.ledger import Ledger
from ...quota.release.cycle import Starvation, release_cycle
from ...quota.release.release_judge import Opening
from ...quota.release.release_order import QueueOrder
from ...quota.stamp import Stamp
from ...quota.verdict import Verdict
from ...settings import Settings
from .background_writes import BackgroundWrites
from .gang_start import AT_A_TIME, Members
from .gate import Chosen, GateAttempts, Writers
from .group_releases import GroupReleases
from .pacing import TRY_AGAIN
from .wait_reports import WaitReports

_PUTTING_BACK: Final = 0.25
"""Part of a time slice in which failed pods are put back, so that they may be tried again."""
_DECIDING: Final = 0.75
"""Part of a time slice after which nothing more is decided: the rest is for wait reports."""


class GateReleaser:
    """Opens gates under one term; each term has a new one. `wake` may be called at any time."""

    def __init__(
        self,
        ledger: Ledger,
        writers: Writers,
        events: EventRecorder,
        metrics: Metrics,
        settings: Settings,
        *,
        term: str,
        clock: Callable[[], float],
        later: Later = in_loop_later,
        wall_clock: Callable[[], float] = time.time,
    ) -> None:
        """`clock`: seconds, monotonic. `later`: ends the time of reservations (E8). `wall_clock`:
        seconds since 1970, as the API server counts them: the wait for room begins with the
        creation, so that it does not begin anew with a new leader.
        """
        self._ledger = ledger
        self._term = term
        self._clock = clock
        self._wall_clock = wall_clock
        self._starvation_wait = settings.release.starvation_wait
        """Seconds after which nobody passes one that lacks room and wants the same card (E6); 0:
        everybody does. No timer ends it: at that moment nothing more can be released, only less.
        """
        self._order = QueueOrder(ledger)
        """Queues to be looked at."""
        self._put_off: dict[str, tuple[str, float]] = {}
        """Queues whose next gang waits until starting gangs have most of their slots: its key, and
        when it is judged again in any case. It may no longer fit then.
        """
        self._wake = asyncio.Event()
        self._woken_at = clock()
        self._later: asyncio.TimerHandle | None = None
        """Wakes us again while nothing can be decided in time."""
        self._draining = False
        in_flight = settings.release.in_flight
        self._attempts = GateAttempts(
            ledger,
            writers,
            events,
            metrics,
            self.wake,
            in_flight=in_flight,
            clock=clock,
            began=wall_clock(),
        )
        self._gate, self._slots = self._attempts.gate, self._attempts.slots
        self.groups: Final = GroupReleases(
            ledger, writers, self._attempts, events, settings, self.wake, term=term, later=later
        )
        loop = asyncio.get_running_loop()
        self._wait_reports = WaitReports(
            ledger,
            events,
            self.groups.conditions,
            clock=clock,
            later=lambda seconds: loop.call_later(seconds, self.wake),
            renew_after=settings.events.renew_after,
        )
        self._background = BackgroundWrites(
            ledger,
            self.groups,
            writers.other(),
            self._attempts.start,
            self.wake,
            term=term,
            at_a_time=in_flight,
        )

    def tell_group(self, group: PodGroupState, verdict: Verdict) -> None:
        """A group waits to be enqueued, and no place in the order is kept for it (V3)."""
        self._wait_reports.tell_group(verdict, group)

    def wake(self) -> None:
        """The ledger changed."""
        if not self._wake.is_set():
            self._woken_at = self._clock()
            self._wake.set()

    async def run(self) -> None:
        """Open gates until cancelled. What is then in flight is left to the settle time.

        An unexpected error ends it: a leader that decides nothing is worse than none.
        """
        self._ledger.decisions.begin_term()
        self.wake()
        try:
            while True:
                await self._wake.wait()
                self._wake.clear()
                if self._attempts.failure is not None:
                    raise self._attempts.failure
                self._cycle(self._woken_at)
                await asyncio.sleep(0)
        finally:
            self.groups.stop_timers()  # first: the tasks cancelled below did not end in time
            await ended(self._attempts.tasks)
            retries = chain(
                self._attempts.retries.stop(), self.groups.stop(), self._background.stop()
            )
            self._wait_reports.stop()
            if self._later is not None:
                self._later.cancel()
            slice_ = TimeSlice(LEADER_SLICE, self._clock)
            for _ in chain(self._ledger.decisions.end_term_in_steps(), retries):
                await slice_.give_way()

    async def drain(self, timeout: float) -> bool:
        """Decide nothing more; wait until nothing is in flight, at most `timeout` seconds. A gang
        that has written nothing yet does not start.

        Returns whether all that was sent is settled. If not, some of it may still land.
        """
        self._draining = True
        self._slots.drain()
        tasks = self._attempts.tasks
        if tasks:
            await asyncio.wait(tasks, timeout=timeout)
        return not tasks and self._attempts.failure is None

    # --- one cycle ----------------------------------------------------------------------------

    def _cycle(self, since: float) -> None:
        """Decide and report for one time slice. The rest follows in the next. `since`: when there
        was news.
        """
        # 1. If no write would be answered in time, decide nothing. Begun work goes on: each patch
        #    checks for itself whether it is in time.
        if self._draining or not self._gate.in_time():
            if self._slots.hand_out(others_wait=False):
                self._wake.set()
            elif not self._draining:
                # The API server does not answer our renewals: it will soon, or the term ends.
                self._wake_in_a_while()
            return

        # 2. What has changed: groups and stamps to be written, pods to be tried again, queues.
        slice_ = TimeSlice(LEADER_SLICE, self._clock)
        self._background.go_on()
        left = self._attempts.put_back(lambda: slice_.beyond(_PUTTING_BACK))
        self._order.add(self._ledger.dirty.pending.take())

        # 3. Gangs that have begun go on, beside who comes.
        more = self._slots.hand_out(others_wait=bool(self._order))

        # 4. Queues in order, and the candidates of each: judge, charge, send.
        closed = self._gate.closed
        if closed:
            self._wake_in_a_while()
        else:
            self._decide(slice_, since)
        if not self._order:
            more = self._slots.hand_out(others_wait=False)

        # 5. Who waits is told why.
        more = self._wait_reports.go_on(slice_) or more
        self._order.add(self._ledger.dirty.pending.take())
        if more or left or (self._order and self._slots.free and not closed):
            self._wake.set()

    def _wake_in_a_while(self) -> None:
        if self._later is None:
            loop = asyncio.get_running_loop()
            self._later = loop.call_later(TRY_AGAIN, self._wake_later)

    def _wake_later(self) -> None:
        self._later = None
        self.wake()

    def _decide(self, slice_: TimeSlice, since: float) -> None:
        now = self._clock()
        for put_off, (_, again) in list(self._put_off.items()):
            if now >= again or self._slots.may_start(put_off):
                del self._put_off[put_off]
                self._order.add((put_off,))
        while self._order.place_one():
            if slice_.beyond(_DECIDING):
                return
        while self._slots.free and not slice_.beyond(_DECIDING):
            queue = self._order.take()
            if queue is None:
                return
            if not self._decide_in(queue, slice_, since):
                self._order.add((queue,))
                return

    def _decide_in(self, queue: str, slice_: TimeSlice, since: float) -> bool:
        """Decide in one queue. Returns whether all of it was looked at. There is no await between a
        judgement and its charge.
        """
        account = self._ledger.account(queue)
        if account is None:
            return True
        self._wait_reports.look(queue)
        # Judging a gang of thousands takes long, and its queue has news all the time.
        put_off = self._put_off[queue][0] if queue in self._put_off else None
        starvation = None
        if self._starvation_wait:
            starvation = Starvation(self._wall_clock(), self._starvation_wait)
        for found in release_cycle(self._ledger, account, before=put_off, starvation=starvation):
            if found is not None and not self._release(found, since):
                return True
            if not self._slots.free or slice_.beyond(_DECIDING):
                return False
        return True

    def _release(self, found: Opening, since: float) -> bool:
        """One candidate that fits. Returns False if it is put off, and whoever is behind it."""
        gang, breaker = found.gang, self._attempts.breaker
        # A group without pods is enqueued.
        if gang is not None and not found.pods:
            self.groups.enqueue(found, gang)
            return True
        # Where gates do not open, few slots are spent on them.
        facts = found.pods[0][0].facts
        if gang is None and not breaker.allows_patch(facts.namespace):
            self._ledger.decisions.back_off(facts.uid)
            self._attempts.failed(facts)
        elif gang is not None and not breaker.allows_gang(facts.namespace):
            self.groups.hold_back(found.queue, gang)
        # A gang waits for others of its queue that have not got their slots yet: it would hold what
        # it cannot use.
        elif gang is not None and not self._slots.may_start(found.queue):
            self._put_off[found.queue] = gang.key, self._clock() + TRY_AGAIN
            return False
        else:
            self._open(found, since)
        return True

    def _open(self, opening: Opening, since: float) -> None:
        """Charge, write ahead where several start, patch. Every await comes after the charge, and
        it is confirmed or retracted once the answer is known.
        """
        # 1. What they were judged by may have changed since they were read: judge them again.
        if not self._ledger.reassessment.read_first(record.facts.uid for record, _ in opening.pods):
            self._ledger.dirty.pending.add(opening.queue)
            self.wake()
            return

        # 2. Charge: what a gang needs as a whole, and the first of the pods.
        gang, reservation = opening.gang, self.groups.reserve(opening)
        others = self._chosen(opening)
        pods = list(islice(others, AT_A_TIME))
        for facts, stamp, _ in pods:
            self._ledger.decisions.assume(facts.uid, stamp)

        # 3. A gang: ask by dry run, write ahead, then patch all.
        if gang is not None and reservation is not None:
            members = Members(pods, others, len(opening.pods))
            self.groups.start(gang, reservation, members, since)
            return

        # 4. Else patch each; confirm or retract.
        for pod in pods:
            sending = self._attempts.send(pod, self._slots.take(pod.facts.namespace))
            self.groups.opening(pods[0].facts.group, self._attempts.open(sending, since))

    def _chosen(self, opening: Opening) -> Iterator[Chosen]:
        """The pods to be charged, as just judged. Each is built when it is taken."""
        judged = [record.facts for record, _ in opening.pods]
        requests = [record.request for record, _ in opening.pods]
        return (
            Chosen(
                facts, Stamp(opening.queue, cards, self._term), request.resource if request else ""
            )
            for facts, request, (_, cards) in zip(judged, requests, opening.pods, strict=True)
        )

"""The decision cycle of the leader: whose gate opens next, in one term.

`GateReleaser` is the table of contents: `_cycle` says what is done in one time slice, `_open` what
is done with one candidate that fits. Pods that wait are told why. If a pod was bound to other cards
than it was released for, its stamp is corrected.
"""

import asyncio
import logging
import time
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Coroutine, Iterator
from itertools import chain, islice
from typing import Any, Final

from ...cluster.api.api_error import ApiError, OutcomeUnknown
from ...cluster.events import EventRecorder
from ...cluster.writes import FencedWriter, TooLateError, guard, pod_path, precondition
from ...loop.timing import LEADER_SLICE, Later, TimeSlice, ended, in_loop_later
from ...metrics import Metrics
from ...quota import vocabulary as v
from ...quota.amounts import canonical
from ...quota.ledger.groups.pod_group_state import PodGroupState
from ...quota.ledger.ledger import Ledger
from ...quota.release.cycle import Starvation, release_cycle
from ...quota.release.release_judge import Opening
from ...quota.release.release_order import QueueOrder
from ...quota.stamp import Stamp, allocated_text
from ...quota.verdict import Verdict
from ...quota.words import logged
from ...settings import Settings
from .gang_start import AT_A_TIME, Members
from .gate import Chosen, GateAttempts, Writers
from .group_releases import GroupReleases
from .pacing import TRY_AGAIN, Retries
from .wait_reports import WaitReports

_LOG: Final = logging.getLogger(__name__)
_PUTTING_BACK: Final = 0.25
"""Part of a time slice in which failed pods are put back, so that they may be tried again."""
_DECIDING: Final = 0.75
"""Part of a time slice after which nothing more is decided: the rest is for wait reports."""


class _Line:
    """Objects to be written: one write at a time of each, a few together. Memory: the objects that
    are to be written.
    """

    def __init__(
        self,
        write: Callable[[str], Awaitable[bool]],
        start: Callable[[Coroutine[Any, Any, None]], object],
        wake: Callable[[], None],
        at_a_time: int,
    ) -> None:
        """`write` returns whether nothing is left to do; else it is called again, after ever longer
        pauses.
        """
        self._write = write
        self._start = start
        self._wake = wake
        self._at_a_time = at_a_time
        self._due: OrderedDict[str, None] = OrderedDict()
        self._in_flight: dict[str, bool] = {}
        """Those that are being written, and whether they have changed since that began."""
        self.retries: Final = Retries[str](self._again)

    def add(self, key: str, *, first: bool = False) -> None:
        """It has changed. `first`: it goes before the others."""
        if key in self._in_flight:
            self._in_flight[key] = True
            return
        self._due[key] = None
        if first:
            self._due.move_to_end(key, last=False)

    def go_on(self) -> None:
        """Start some of the writes."""
        while self._due and len(self._in_flight) < self._at_a_time:
            key, _ = self._due.popitem(last=False)
            self._in_flight[key] = False
            self._start(self._run(key))

    def _again(self, key: str) -> None:
        self.add(key)
        self._wake()

    async def _run(self, key: str) -> None:
        try:
            done = await self._write(key)
        finally:
            if self._in_flight.pop(key):
                self._due[key] = None
        if done:
            self.retries.worked(key)
        else:
            self.retries.failed(key)


class BackgroundWrites:
    """Writes of one term that nothing waits for: outdated groups, and stamps that are wrong. A few
    at a time, however many there are when a term begins.

    A stamp says on a running pod what a later leader could not know.
    - Which cards it holds, if it was bound to other cards than it was released for (E3). The ledger
      has already moved its charge. For a pod that runs when first seen, only the stamp says what
      its node was (D8).
    - That it came where nothing is enforced (I3): it gets the term, and no cards. Once its
      namespace is enforced, that cannot be seen any more.
    - Where it is charged although it came past admission (I3): its group and namespace may name
      another queue by then. It gets the label by which the API server knows which pods to guard.
      What stood there as if it were a stamp was not ours, and goes.
    """

    def __init__(
        self,
        ledger: Ledger,
        groups: GroupReleases,
        writer: FencedWriter,
        start: Callable[[Coroutine[Any, Any, None]], object],
        wake: Callable[[], None],
        *,
        term: str,
        at_a_time: int,
    ) -> None:
        """`groups` is told of each group that changed, within `go_on`, however long its write has
        to wait. `start`: run a task beside this one. `wake`: have `go_on` called; the caller must
        also call it when such a task has ended. `at_a_time`: writes of each of the two kinds.
        """
        self._ledger = ledger
        self._groups = groups
        self._writer = writer
        self._term = term
        self._group_line = _Line(groups.update, start, wake, at_a_time)
        self._stamp_line = _Line(self._correct, start, wake, at_a_time)

    def go_on(self) -> None:
        """Start some of the writes. Costs by these, and by what is new."""
        for key in self._ledger.dirty.groups.take():
            self._groups.look_at_end(key)
            self._group_line.add(key)
        self._group_line.go_on()
        for uid in self._ledger.dirty.incorrect.take():
            if uid not in self._stamp_line.retries:
                # First what is wrong: audit mode may note all pods.
                self._stamp_line.add(uid, first=uid in self._ledger.misplaced)
        self._stamp_line.go_on()

    def stop(self) -> Iterator[None]:
        """The term is over: no more retries. Iterate over the result, which forgets them."""
        return chain(self._group_line.retries.stop(), self._stamp_line.retries.stop())

    async def _correct(self, uid: str) -> bool:
        """Write what is missing or wrong on a pod; returns whether nothing is. It is looked at
        again in any case: a lost write is repeated, and so is one that another client reverted. A
        lost one may land later, which does no harm: it states what has been charged since.
        """
        ledger = self._ledger
        note: dict[str, str | None] = {}
        if uid not in ledger.misplaced and uid not in ledger.unnoted:
            return True
        record = ledger.pods[uid]
        facts = record.facts
        if uid in ledger.misplaced:
            note[v.ALLOCATED] = allocated_text(canonical(record.on_node))
        else:
            if record.audited:
                note[v.TERM] = self._term
            if record.fixed is not None:
                note[v.CHARGED_QUEUE] = record.fixed
        if not facts.labelled:
            note = {**dict.fromkeys(v.STAMP), **note}
        body = {"metadata": {**precondition(facts), "annotations": note, **guard(facts)}}
        try:
            await self._writer.patch(pod_path(facts), body)
        except (ApiError, OutcomeUnknown, TooLateError) as error:
            moved = isinstance(error, ApiError) and error.moved
            level = logging.DEBUG if moved else logging.WARNING
            _LOG.log(level, "stamp of %s: %s", logged(facts.namespace, facts.name), error)
        return False


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

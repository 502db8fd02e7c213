"""The release of gates: whose gate opens next. Only this charges, and only while we lead.

Charge first, then patch, many in flight; a gang's reservation is written before its first gate
opens. Pods that wait are told why. If a pod was bound to other cards than it was let through for,
its stamp is corrected.
"""

import asyncio
import math
import time
from collections import OrderedDict
from collections.abc import Callable, Coroutine, Iterator
from functools import partial
from itertools import chain, islice
from typing import Any, Final

from ...cluster.events.events import EventRecorder
from ...loop.ended import ended
from ...loop.time_slice import LEADER_SLICE, TimeSlice
from ...metrics import Metrics
from ...quota import vocabulary as v
from ...quota.ledger.groups.pod_group_state import PodGroupState
from ...quota.ledger.ledger import Ledger
from ...quota.messages import gate_messages
from ...quota.pods.pod_facts import PodFacts
from ...quota.release.cycle import release_cycle
from ...quota.release.release_judge import Opening
from ...quota.release.release_order import QueueOrder
from ...quota.release.starvation import Starvation
from ...quota.stamp import Stamp
from ...quota.verdict import Verdict
from ...quota.words import time_text
from ..later import Later, in_loop_later
from ..references import pod_reference
from .background_writes import BackgroundWrites
from .gate import GateOpener, Opened
from .groups.gang_reports import GangReports
from .groups.gang_start import AT_A_TIME, Chosen, GangStart, Members, Sender, Sending
from .groups.group_conditions import GroupConditions
from .groups.group_enqueuer import GroupEnqueuer, waits_for_room
from .groups.pod_group_writer import PodGroupWriter
from .groups.quota_conditions import QuotaConditions
from .groups.reservation_timeouts import ReservationTimeouts
from .groups.unused_reservations import UnusedReservations
from .namespace_circuit_breaker import NamespaceCircuitBreaker, Start
from .retries import Retries
from .slots import Slot, Slots
from .stamp_writer import StampWriter
from .wait_reports import WaitReports

TRY_AGAIN: Final = 1.0
"""Seconds before the first retry of what failed, if no news of it comes earlier."""
AT_MOST: Final = 60.0
"""Seconds between two tries, at most."""
_PUTTING_BACK: Final = 0.25
"""Part of a time slice in which failed pods are put back, so that they may be tried again."""
_DECIDING: Final = 0.75
"""Part of a time slice after which nothing more is decided: the rest is for wait reports."""


class GateReleaser:
    """Opens gates under one term; each term has a new one. `wake` may be called at any time."""

    def __init__(
        self,
        ledger: Ledger,
        gate: GateOpener,
        groups: PodGroupWriter,
        stamps: StampWriter,
        events: EventRecorder,
        metrics: Metrics,
        conditions: GroupConditions,
        *,
        term: str,
        in_flight: int,
        reservation_timeout: float,
        clock: Callable[[], float],
        later: Later = in_loop_later,
        starvation_wait: float = 0.0,
        wall_clock: Callable[[], float] = time.time,
        quota_conditions: QuotaConditions | None = None,
        renew_after: float = math.inf,
    ) -> None:
        """`conditions`: of all groups, whoever writes them. `clock`: seconds, monotonic. `later`:
        ends the time of reservations (E8).
        `quota_conditions`: written where the status of groups is not ours.

        `starvation_wait`: seconds after which nobody passes one that lacks room and wants the same
        card (E6); 0: everybody does. `wall_clock`: seconds since 1970, as the API server counts
        them: the wait begins with the creation, so that it does not begin anew with a new leader.
        No timer ends it: at that moment nothing more can be let through, only less.

        `renew_after`: seconds after which the heads of queues are told again.
        """
        self._ledger = ledger
        self._gate = gate
        self._groups = groups
        self._events = events
        self._metrics = metrics
        self._unused = UnusedReservations(ledger, self.wake, later=later)
        self._timeouts = ReservationTimeouts(
            reservation_timeout,
            self._expired,
            waits=partial(waits_for_room, ledger),
            unused=self._unused.note,
            later=later,
        )
        self._quota_conditions = quota_conditions
        self._conditions = conditions
        self._reports = GangReports(ledger, events, conditions, timeout=reservation_timeout)
        self._term = term
        self._clock = clock
        loop = asyncio.get_running_loop()
        self._wait_reports = WaitReports(
            ledger,
            events,
            conditions,
            clock=clock,
            later=lambda seconds: loop.call_later(seconds, self.wake),
            renew_after=renew_after,
        )
        self._order = QueueOrder(ledger)
        """Queues to be looked at."""
        self._starvation_wait = starvation_wait
        self._wall_clock = wall_clock
        self._began = time_text(int(wall_clock()))
        self._wake = asyncio.Event()
        self._woken_at = clock()
        self._later: asyncio.TimerHandle | None = None
        """Wakes us again while nothing can be decided in time."""
        self._tasks: set[asyncio.Task[Any]] = set()
        self._failure: BaseException | None = None
        self._draining = False
        self._breaker = NamespaceCircuitBreaker(in_flight, lambda name: name in ledger.namespaces)
        self._slots = Slots(in_flight, self._breaker, self.wake)
        """For gates whose first patch has not been answered yet."""
        self._put_off: dict[str, tuple[str, float]] = {}
        """Queues whose next gang waits until starting gangs have most of their slots: its key, and
        when it is judged again in any case. It may no longer fit then.
        """
        self._pod_retries = Retries[tuple[str, str]](self._is_due, first=TRY_AGAIN, cap=AT_MOST)
        """By namespace and uid of the pod."""
        self._due: OrderedDict[tuple[str, str], None] = OrderedDict()
        """Pods to be put back, by namespace and uid."""
        self._gang_retries = Retries[tuple[str, str]](
            self._put_back_gang, first=TRY_AGAIN, cap=AT_MOST
        )
        """Gangs held back by the circuit breaker, by queue and key."""
        self._background = BackgroundWrites(
            ledger,
            self._update_group,
            stamps,
            at_a_time=in_flight,
            changed=self._look_at_end,
            start=self._start,
            wake=self.wake,
            first=TRY_AGAIN,
            cap=AT_MOST,
        )
        conditions.listen(self._background.look_again)
        self._gangs = GangStart(
            ledger,
            gate,
            groups,
            events,
            self._timeouts,
            self._reports,
            self._slots,
            Sender(self._send, self._answered, self._open_one, self._failed, self._start),
        )
        self._enqueuer = GroupEnqueuer(
            ledger,
            groups,
            self._timeouts,
            self._reports,
            self._slots,
            self._gang_retries,
            term=term,
            start=self._start,
        )

    @property
    def busy(self) -> bool:
        """Whether anything is under way, or news are left."""
        return bool(self._tasks) or self._wake.is_set()

    @property
    def idle(self) -> bool:
        """Whether it is not busy, and nothing is to be tried again later."""
        retrying = len(self._pod_retries) + len(self._gang_retries) + self._background.retrying
        return not self.busy and not retrying

    @property
    def in_flight(self) -> int:
        """Gates whose first patch is not answered yet."""
        return self._slots.taken

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
                if self._failure is not None:
                    raise self._failure
                self._pass(self._woken_at)
                await asyncio.sleep(0)
        finally:
            self._unused.stop()
            self._timeouts.stop()  # first: the tasks cancelled below did not end in time, or at all
            await ended(self._tasks)
            retries = chain(
                self._pod_retries.stop(), self._gang_retries.stop(), self._background.stop()
            )
            self._wait_reports.stop()
            self._conditions.stop()
            if self._later is not None:
                self._later.cancel()
            await self._in_slices(chain(self._ledger.decisions.end_term_in_steps(), retries))

    async def drain(self, timeout: float) -> bool:
        """Decide nothing more; wait until nothing is in flight, at most `timeout` seconds. A gang
        that has written nothing yet does not start.

        Returns whether all that was sent is settled. If not, some of it may still land.
        """
        self._draining = True
        self._slots.drain()
        if self._tasks:
            await asyncio.wait(self._tasks, timeout=timeout)
        return not self._tasks and self._failure is None

    async def _in_slices(self, steps: Iterator[None]) -> None:
        await asyncio.sleep(0)
        slice_ = TimeSlice(LEADER_SLICE, self._clock)
        for _ in steps:
            if slice_.over:
                await asyncio.sleep(0)
                slice_ = TimeSlice(LEADER_SLICE, self._clock)

    def _pass(self, since: float) -> None:
        """Decide and report for one time slice. The rest follows in the next."""
        if self._draining or not self._gate.in_time():
            # Begun work goes on: each patch checks for itself whether it is in time.
            more = self._slots.hand_out(others_wait=False)
            if more:
                self._wake.set()
            elif not self._draining:
                # The API server does not answer our renewals: it will soon, or the term ends.
                self._wake_in_a_while()
            return
        slice_ = TimeSlice(LEADER_SLICE, self._clock)
        self._background.go_on()
        left = self._put_back(slice_)
        self._order.add(self._ledger.dirty.take_pending())
        more = self._slots.hand_out(others_wait=bool(self._order))
        closed = self._gate.closed
        if closed:
            self._wake_in_a_while()
        else:
            self._decide(slice_, since)
        if not self._order:
            more = self._slots.hand_out(others_wait=False)
        more = self._wait_reports.go_on(slice_) or more
        self._order.add(self._ledger.dirty.take_pending())
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
        self._look_at_put_off()
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

    def _look_at_put_off(self) -> None:
        now = self._clock()
        for queue, (_, again) in list(self._put_off.items()):
            if now >= again or self._slots.may_start(queue):
                del self._put_off[queue]
                self._order.add((queue,))

    def _decide_in(self, queue: str, slice_: TimeSlice, since: float) -> bool:
        """Decide in one queue. Returns whether all of it was looked at. There is no await between a
        judgement and its charge.
        """
        account = self._ledger.account(queue)
        if account is None:
            return True
        self._wait_reports.look(queue)
        # Judging a gang of thousands takes long, and its queue has news all the time.
        put_off, _ = self._put_off.get(queue, (None, 0.0))
        starvation = None
        if self._starvation_wait:
            starvation = Starvation(self._wall_clock(), self._starvation_wait)
        cycle = release_cycle(self._ledger, account, before=put_off, starvation=starvation)
        for found in cycle:
            if found is None:
                pass
            elif found.gang is not None and not found.pods:
                self._enqueue(found.gang, found)
            elif self._may_open(found):
                if not self._begin(queue, found, since):
                    return True
            elif found.gang is not None:
                self._hold_back_gang(queue, found.gang)
            else:
                self._hold_back(found.pods[0][0].facts)
            if not self._slots.free or slice_.beyond(_DECIDING):
                return False
        return True

    def _enqueue(self, group: PodGroupState, opening: Opening) -> None:
        """Reserve for it, unless it has another place by now, or none: then another pass judges."""
        if self._ledger.reassessment.ask_first(group):
            self._enqueuer.enqueue(group, opening)
        else:
            self.wake()

    def _begin(self, queue: str, opening: Opening, since: float) -> bool:
        """Open it. Returns False if it is put off, and whoever is behind it."""
        gang = opening.gang
        if gang is not None and not self._slots.may_start(queue):
            self._put_off[queue] = gang.key, self._clock() + TRY_AGAIN
            return False
        self._open(opening, since)
        return True

    def _may_open(self, opening: Opening) -> bool:
        """Whether the circuit breaker gives the opening's namespace more slots."""
        namespace = opening.pods[0][0].facts.namespace
        if opening.gang is not None:
            return self._breaker.allows_gang(namespace)
        return self._breaker.allows_patch(namespace)

    def _open(self, opening: Opening, since: float) -> None:
        """Charge, then send. Every await comes after the charge."""
        if not self._ledger.reassessment.read_first(record.facts.uid for record, _ in opening.pods):
            # What they were judged by has changed since they were read: judge them in another pass.
            self._ledger.dirty.mark_pending(opening.queue)
            self.wake()
            return
        reservation = None
        if opening.gang is not None:
            # It may have none now and then get an equal one, which has a time of its own.
            self._timeouts.look(opening.gang.key, opening.gang)
            reservation = self._ledger.decisions.reserve(
                opening.gang.key, opening.queue, self._term, opening.asked
            )
        others = self._chosen(opening)
        pods = list(islice(others, AT_A_TIME))
        for facts, stamp, _ in pods:
            self._ledger.decisions.assume(facts.uid, stamp)
        key = pods[0].facts.group
        if opening.gang is None or reservation is None:
            for pod in pods:
                sending = self._send(pod, self._slots.take(pod[0].namespace))
                self._start_opening(key, self._open_one(sending, since))
        else:
            self._gang_retries.worked((opening.queue, key))
            gang, start = opening.gang, self._breaker.start(_namespace(key))
            members = Members(pods, others, len(opening.pods))
            work = self._gangs.run(gang, gang.facts, reservation, members, since, start)
            self._start_opening(key, work, start)

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

    def _send(self, pod: Chosen, slot: Slot) -> Sending:
        """Note that a patch of this pod is about to be sent."""
        self._events.give_way()
        return Sending(*pod, slot)

    def _answered(self, sending: Sending, opened: Opened | None) -> None:
        """Give back a slot. `opened` None: there was no answer."""
        worked = None
        if opened in (Opened.YES, Opened.UNKNOWN, Opened.REFUSED):
            worked = opened is Opened.YES
        self._slots.give_back(sending.slot, worked=worked)
        if sending.then is not None:
            sending.then()
        if not self._slots.taken:
            self._events.go_on()

    async def _open_one(self, sending: Sending, since: float) -> Opened:
        facts, stamp, opened = sending.facts, sending.stamp, None
        try:
            opened = await self._gate.open(facts, stamp, sending.resource)
        finally:
            self._answered(sending, opened)
        if opened is Opened.UNKNOWN:
            opened = await self._gate.settle(facts, stamp)
        if opened is Opened.YES:
            self._pod_retries.worked((facts.namespace, facts.uid))
            self._metrics.release_seconds.observe(max(0.0, self._clock() - since))
            if self._was_told(facts.uid):
                self._events.record(
                    pod_reference(facts),
                    type="Normal",
                    reason=v.RELEASED,
                    message=self._released(facts, stamp),
                )
        elif opened is not Opened.TOO_LATE:
            self._failed(facts)
        return opened

    def _was_told(self, uid: str) -> bool:
        """Whether an event said that the pod waits, or that its gate was not opened; or may have
        said so, before this term.
        """
        record = self._ledger.pods.get(uid)
        if record is not None and (record.told or record.facts.created < self._began):
            return True
        return self._events.last_reason(uid) is not None

    def _released(self, facts: PodFacts, stamp: Stamp) -> str:
        mode = self._ledger.mode_in(facts.namespace)
        if mode is v.Mode.ENFORCE:
            return gate_messages.released(stamp.queue, stamp.cards)
        return gate_messages.released_unasked(facts.namespace, mode)

    def _hold_back(self, facts: PodFacts) -> None:
        self._ledger.decisions.back_off(facts.uid)
        self._failed(facts)

    def _hold_back_gang(self, queue: str, gang: PodGroupState) -> None:
        self._ledger.decisions.hold_back_gang(gang.key)
        self._gang_retries.failed((queue, gang.key))
        namespace = _namespace(gang.key)
        self._reports.backed_off(gang, namespace, self._breaker.failures(namespace))

    def _failed(self, facts: PodFacts) -> None:
        pod = facts.namespace, facts.uid
        self._due.pop(pod, None)
        self._pod_retries.failed(pod)

    def _is_due(self, pod: tuple[str, str]) -> None:
        self._due[pod] = None
        self.wake()

    def _put_back(self, slice_: TimeSlice) -> bool:
        """Put back some due pods. Returns whether there are more: a large gang may fail whole."""
        while self._due:
            if slice_.beyond(_PUTTING_BACK):
                return True
            pod, _ = self._due.popitem(last=False)
            if pod[1] in self._ledger.pods:
                self._ledger.decisions.put_back(pod[1])
            else:
                self._pod_retries.worked(pod)
        return False

    def _put_back_gang(self, gang: tuple[str, str]) -> None:
        queue, key = gang
        if key not in self._ledger.groups:
            self._gang_retries.worked(gang)
            return
        self._ledger.decisions.put_back_gang(key, queue)
        self.wake()

    def _look_at_end(self, key: str) -> None:
        """If a reservation has ended unused, what it leaves free is not decided on before that is
        known (E8).
        """
        if key in self._timeouts:
            self._timeouts.look(key, self._ledger.groups.get(key))

    async def _update_group(self, key: str) -> bool:
        """Bring a PodGroup up to date. Returns whether nothing is left to do."""
        self._timeouts.look(key, self._ledger.groups.get(key))
        over, opening = self._timeouts.over(key), self._timeouts.opening(key)
        objected = partial(self._reports.not_given_back, key)
        done = await self._groups.update(key, expired=over, opening=opening, objected=objected)
        if self._quota_conditions is None:
            return done
        return await self._quota_conditions.update(key) and done

    def _expired(self, key: str) -> None:
        """A gang did not complete in time (E8)."""
        self._reports.expired(key)
        self._ledger.decisions.lose_place(key)
        self._background.look_again(key)

    def _start_opening(
        self, group: str, work: Coroutine[Any, Any, object], start: Start | None = None
    ) -> None:
        """`group`: the key of the group whose gates open; empty: none. `start`: of a whole gang."""
        task = self._start(work)
        if group:
            begun = self._timeouts.begin(group, start=start is not None)
            task.add_done_callback(lambda _: self._opened(group, begun, start))

    def _opened(self, group: str, begun: int, start: Start | None) -> None:
        self._timeouts.end(group, begun, start=start is not None)
        if start is not None:
            start.end()
        state = self._ledger.groups.get(group)
        if state is not None and state.reservation is not None:
            self._background.look_again(group)  # for what was postponed meanwhile

    def _start(self, work: Coroutine[Any, Any, object]) -> asyncio.Task[Any]:
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._done)
        return task

    def _done(self, task: asyncio.Task[Any]) -> None:
        self._tasks.discard(task)
        if not task.cancelled():
            self._failure = self._failure or task.exception()
        self.wake()


def _namespace(group: str) -> str:
    """The namespace in a group's key."""
    return group.partition("/")[0]

"""One term of the leader, from winning the Lease to the last settled patch: it opens gates, updates
PodGroups, and reports.

Win the Lease, settle, catch up, then decide. Numbers of queues go to who publishes them, events to
whom they are about. All of it ends with the term; the next one begins anew.
"""

import asyncio
import logging
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import Any, Final, NamedTuple, Protocol

from ..cluster.api.client import Client
from ..cluster.election.elector import Elector
from ..cluster.election.lease import Revisions
from ..cluster.election.takeover import LeadershipLost, settle_and_catch_up
from ..cluster.events import EventRecorder
from ..cluster.watch.delivery import ChangeNotifier
from ..cluster.watch.reflector import Reflector
from ..cluster.writes import FencedWriter, TermGuard
from ..loop.timing import LEADER_SLICE, Later, Timer, TimeSlice, ended, in_loop_later
from ..metrics import Metrics
from ..quota.ledger.groups.pod_group_state import PodGroupState
from ..quota.ledger.ledger import Ledger
from ..quota.ledger.ledger_reader import LedgerReader
from ..quota.reports.queue_report import QueueReport, report
from ..quota.verdict import Verdict
from ..settings import LeaderElection, Settings
from .fence import Fence
from .queues.queue_reconciler import INTERVAL
from .release.gate import Writers
from .release.gate_releaser import GateReleaser
from .reports import ConditionEvents, Reports

OWN_WRITES: Final = 0.5
"""Seconds within which the watches should report our last writes."""
STATUS_EVERY: Final = 0.1
"""Seconds between two reports of what changed."""


class ReportReceiver(Protocol):
    """Who is told the numbers of queues, to write them down, in one term."""

    @property
    def shows_conditions(self) -> bool:
        """Whether the conditions of queues are published. Else they get events."""

    def start(self, moved: Callable[[], object]) -> None:
        """The term has begun. Call `moved`, from any thread, when `shows_conditions` changes."""

    def post(self, queue: str, report: QueueReport | None) -> None:
        """New numbers of a queue, or that it is gone."""

    async def stop(self) -> None:
        """The term is over."""


class TermPart(Protocol):
    """What else is decided in a term, as binding pods."""

    def begin(self, term: str) -> None:
        """Decide from now on."""

    async def drain(self, timeout: float) -> bool:
        """Decide nothing new. Returns whether all that was sent is settled, within so many s."""

    async def end(self) -> None:
        """The term is over."""

    @property
    def all_seen(self) -> bool:
        """Whether the watches brought back all that was decided."""


class QueueViews:
    """The views of one term. Belongs to the ledger's loop.

    Guarantees: every change of a queue is handed over within little more than a second; no call
    takes longer than a time slice and one view; memory is bounded by the queues.
    """

    def __init__(
        self,
        ledger: LedgerReader,
        post: Callable[[str, QueueReport | None], None],
        *,
        clock: Callable[[], float],
        later: Later = in_loop_later,
    ) -> None:
        """`post` takes a queue with its view, None if it is gone. `clock`: seconds, monotonic.
        `later` calls a function after a number of seconds.
        """
        self._ledger = ledger
        self._post = post
        self._clock = clock
        self._later = later
        self._changed: dict[str, None] = {}
        self._batch: dict[str, None] = {}
        """What is being handed over: what changes meanwhile waits for the next second."""
        self._next = float("-inf")
        """When the next batch may begin."""
        self._timer: Timer | None = None

    def changed(self, queues: Iterable[str]) -> None:
        """The totals of these queues have changed."""
        self._changed.update(dict.fromkeys(queues))
        self._call_later()

    def stop(self) -> None:
        """The term is over."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        self._changed, self._batch = {}, {}

    def _call_later(self) -> None:
        if self._timer is None and (self._batch or self._changed):
            wait = 0.0 if self._batch else max(0.0, self._next - self._clock())
            self._timer = self._later(wait, self._hand_over)

    def _hand_over(self) -> None:
        """As much of the batch as one slice takes. A view is worked out fast once the shares are,
        which take long for many sharers of many cards.
        """
        self._timer = None
        slice_ = TimeSlice(LEADER_SLICE, self._clock)
        if not self._batch:
            self._batch, self._changed = self._changed, {}
            self._next = self._clock() + INTERVAL
        shares_known = all(not slice_.over for _ in self._ledger.shares.refresh())
        while self._batch and shares_known:
            queue = next(iter(self._batch))
            del self._batch[queue]
            self._post(queue, report(self._ledger, queue))
            if slice_.over:
                break
        self._call_later()


def term_writers(
    client: Client, time_left: Callable[[], float], guard: TermGuard, settings: Settings
) -> Writers:
    """Writers under the term that we have. `time_left`: seconds before the renew deadline."""
    release = settings.release

    def writer(guard: TermGuard | None = None) -> FencedWriter:
        return FencedWriter(
            client,
            time_left,
            timeout=release.patch_timeout,
            at_a_time=release.in_flight,
            guard=guard,
        )

    return Writers(lambda: writer(guard), writer)


def eviction_writer(
    client: Client, time_left: Callable[[], float], guard: TermGuard, settings: Settings
) -> FencedWriter:
    """For evictions, one at a time. The API server asks for budgets and writes twice: a busy one
    takes longer for it than for a patch. A late one ends nobody, so nothing has to be settled.
    """
    timeout = settings.leader_election.renew_deadline / 2
    return FencedWriter(client, time_left, timeout=timeout, at_a_time=1, guard=guard)


class LeaderWork:
    """The work of this replica's terms, one after the other. Belongs to the ledger's loop."""

    def __init__(
        self,
        ledger: Ledger,
        writers: Writers,
        events: EventRecorder,
        metrics: Metrics,
        notifier: ChangeNotifier,
        settings: Settings,
        clock: Callable[[], float],
        *,
        later: Later = in_loop_later,
        parts: Sequence[TermPart] = (),
    ) -> None:
        """`clock`: seconds, monotonic. `later`: ends the time of reservations (E8). `parts`: what
        else begins and ends with our terms.
        """
        self._ledger = ledger
        self._writers = writers
        self._events = events
        self._metrics = metrics
        self._notifier = notifier
        self._settings = settings
        self._clock = clock
        self._later = later
        self._parts = parts
        self._releaser: GateReleaser | None = None
        self._views: QueueViews | None = None
        self._reports: Reports | None = None
        self._flush: asyncio.TimerHandle | None = None
        self._flushed_at = float("-inf")
        notifier.listen(self._ledger_changed)

    async def run(self, term: str, receiver: ReportReceiver) -> None:
        """Decide in this term until cancelled. Only for who knows that the Lease is ours, and that
        all has been seen that was decided before.
        """
        conditions = ConditionEvents(self._events)

        def post(queue: str, view: QueueReport | None) -> None:
            receiver.post(queue, view)
            if not receiver.shows_conditions:
                conditions.look(queue, view)

        views = self._views = QueueViews(self._ledger, post, clock=self._clock)
        releaser = self._releaser = GateReleaser(
            self._ledger,
            self._writers,
            self._events,
            self._metrics,
            self._settings,
            term=term,
            clock=self._clock,
            later=self._later,
        )
        self._metrics.leader.set(1)
        loop = asyncio.get_running_loop()
        receiver.start(partial(loop.call_soon_threadsafe, self.report_all))
        reports = self._reports = Reports(self._ledger, self._events)
        self.report_all()
        for part in self._parts:
            part.begin(term)
        self._flush_later()
        try:
            await releaser.run()
        finally:
            self._metrics.leader.set(0)
            self._releaser = self._views = self._reports = None
            views.stop()
            reports.stop()
            for part in self._parts:
                await part.end()
            await receiver.stop()

    async def drain(self, timeout: float) -> bool | None:
        """Decide nothing more. Returns whether all that was sent is settled, in at most `timeout`
        seconds; None if nothing was decided.
        """
        releaser, self._releaser = self._releaser, None
        if releaser is None:
            return None
        drained = await asyncio.gather(
            releaser.drain(timeout), *(part.drain(timeout) for part in self._parts)
        )
        return all(drained)

    async def all_seen(self) -> bool:
        """Whether the watches bring back all our writes, within a moment."""
        gates_seen = self._ledger.decisions.all_seen()

        def seen() -> bool:
            return gates_seen() and all(part.all_seen for part in self._parts)

        return await self._notifier.wait_for(seen, OWN_WRITES)

    def tell_group(self, group: PodGroupState, verdict: Verdict) -> None:
        """Tell a group why it is not enqueued, once per reason; outside a term it does nothing."""
        if self._releaser is not None:
            self._releaser.tell_group(group, verdict)

    def report_all(self) -> None:
        """Report every queue, whatever was reported before; outside a term it does nothing."""
        if self._views is not None and self._reports is not None:
            queues = [account.name for account in self._ledger.accounts()]
            self._reports.charges_changed(queues)
            self._views.changed(queues)

    def report_changes(self) -> None:
        """Report changed numbers, nodes and namespaces, and ungated pods in audit mode.

        Done by itself soon after news came. Outside a term it does nothing.
        """
        self._flush, self._flushed_at = None, self._clock()
        if self._views is None or self._reports is None:
            return
        if not self._reports.look():
            self._flush_later()
        slice_ = TimeSlice(LEADER_SLICE, self._clock)
        for _ in self._ledger.shares.refresh():  # marks whoever deserves another amount now
            if slice_.over:
                self._flush_later()
                break
        changed = self._ledger.dirty.take_changed()
        self._reports.charges_changed(changed)
        self._views.changed(changed)

    def _ledger_changed(self) -> None:
        """Wake the releaser; if we do not lead, drop what only a leader needs."""
        if self._releaser is None:
            self._ledger.decisions.rest()
            return
        self._releaser.wake()
        self._flush_later()

    def _flush_later(self) -> None:
        if self._flush is None:
            delay = max(0.0, self._flushed_at + STATUS_EVERY - self._clock())
            self._flush = asyncio.get_running_loop().call_later(delay, self.report_changes)


_LOG = logging.getLogger(__name__)


class StopResult(NamedTuple):
    """How a leader stopped."""

    settled: bool
    """Whether no write of ours can land any more, so that the Lease may be given up. If not, it
    must expire: the successor then waits long enough."""
    handover: Revisions | None
    """What the successor must have seen, if that is known. Then it need not wait."""


class Leadership:
    """What this replica does while it leads. `acquired` and `lost` are the elector's callbacks.

    `failed` is called with an unexpected error, and if the deciding ended by itself while the Lease
    is still ours. Then nothing is decided any more and no other replica may decide, so the process
    should end.
    """

    def __init__(
        self,
        work: LeaderWork,
        client: Client,
        elector: Elector,
        fence: Fence,
        reflectors: Sequence[Reflector[Any]],
        lease: LeaderElection,
        make_receiver: Callable[[], ReportReceiver],
        failed: Callable[[BaseException], None],
    ) -> None:
        """`reflectors`: watches that decisions depend on. `make_receiver`: of the numbers of
        queues, in one term.
        """
        self._work = work
        self._client = client
        self._elector = elector
        self._fence = fence
        self._reflectors = reflectors
        self._lease = lease
        self._make_receiver = make_receiver
        self._failed = failed
        self._unsettled = False
        self._term: asyncio.Task[None] | None = None

    def acquired(self, term: str) -> None:
        """The Lease is ours."""
        self._term = asyncio.get_running_loop().create_task(self._lead(term))
        self._term.add_done_callback(lambda task: self._ended(term, task))

    def lost(self, term: str) -> None:
        """The term is over: decide nothing more."""
        _LOG.info("term %s: this replica decides nothing more", term)
        if self._term is not None:
            self._term.cancel()

    async def stop(self, timeout: float) -> StopResult:
        """Orderly exit: stop deciding, settle what is in flight, in at most `timeout` seconds."""
        handover: Revisions | None = None
        drained = await self._work.drain(timeout)
        if drained is False:
            self._unsettled = True
        elif drained and await self._work.all_seen():
            # What a successor must have seen: all that we have, our own writes included.
            handover = {reflector.kind: reflector.applied for reflector in self._reflectors}
        if self._term is not None:
            await ended({self._term})
        return StopResult(settled=not self._unsettled, handover=handover)

    def _ended(self, term: str, task: "asyncio.Task[None]") -> None:
        if task.cancelled():
            return
        error = task.exception()
        if error is None and self._elector.term == term:
            error = RuntimeError(f"term {term} still holds the Lease, but nothing decides in it")
        if error is not None:
            self._unsettled = True
            self._failed(error)

    async def _lead(self, term: str) -> None:
        fence = asyncio.get_running_loop().create_task(self._fence.run(term))
        fence.add_done_callback(lambda task: self._ended(term, task))
        try:
            await self._settle_and_decide(term)
        finally:
            await ended({fence})

    async def _settle_and_decide(self, term: str) -> None:
        try:
            await settle_and_catch_up(
                self._elector,
                self._reflectors,
                self._client,
                self._fence.held,
                settle=self._lease.settle,
                renew_deadline=self._lease.renew_deadline,
            )
        except LeadershipLost as reason:
            _LOG.info("term %s ended before it decided anything: %s", term, reason)
            return
        await self._work.run(term, self._make_receiver())

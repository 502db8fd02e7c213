"""One term of the leader, from winning the Lease to the last settled patch.

Win the Lease, settle, catch up, then decide: open gates, update PodGroups, write Queue status. When
the term ends, all of this ends; the next term begins anew.
"""

import asyncio
import logging
from collections.abc import Callable, Sequence
from typing import Any, Final, NamedTuple, Protocol

from ..cluster.api.client import Client
from ..cluster.election.elector import Elector
from ..cluster.election.lease import Revisions
from ..cluster.election.takeover import LeadershipLost, settle_and_catch_up
from ..cluster.events.events import EventRecorder
from ..cluster.watch.change_notifier import ChangeNotifier
from ..cluster.watch.reflector import Reflector
from ..cluster.writes.fenced_writer import FencedWriter
from ..loop.ended import ended
from ..loop.time_slice import LEADER_SLICE, TimeSlice
from ..metrics import Metrics
from ..quota.ledger.groups.group_condition import StoredCondition
from ..quota.ledger.groups.group_facts import GroupFacts
from ..quota.ledger.groups.pod_group_state import PodGroupState
from ..quota.ledger.ledger import Ledger
from ..quota.reports.queue_report import QueueReport
from ..quota.verdict import Verdict
from ..settings import Settings
from .fence import Fence
from .later import Later, in_loop_later
from .queues.queue_definition import QueueDefinition
from .queues.queue_operator import QueueOperator
from .queues.queue_views import QueueViews
from .release.gate import GateOpener
from .release.gate_releaser import GateReleaser
from .release.gate_reports import GateReports
from .release.groups.group_conditions import GroupConditions
from .release.groups.pod_group_writer import PodGroupWriter
from .release.groups.quota_conditions import QuotaConditions
from .release.stamp_writer import StampWriter
from .reports.audit import report_unadmitted
from .reports.condition_events import ConditionEvents
from .reports.left_out_reports import ask_for_left_out, report_left_out
from .reports.memory_reports import MemoryReports
from .reports.namespace_reports import NamespaceReports
from .reports.node_reports import report_nodes
from .reports.unadmitted import UnadmittedReports

_LOG = logging.getLogger(__name__)
OWN_WRITES: Final = 0.5
"""Seconds within which the watches should report our last writes."""
STATUS_EVERY: Final = 0.1
"""Seconds between two reports of what changed."""


class StopResult(NamedTuple):
    """How a leader stopped."""

    settled: bool
    """Whether no write of ours can land any more, so that the Lease may be given up. If not, it
    must expire: the successor then waits long enough."""
    handover: Revisions | None
    """What the successor must have seen, if that is known. Then it need not wait."""


class ReportReceiver(Protocol):
    """Who is told the numbers of queues, to write them down, in one term."""

    def start(self) -> None:
        """The term has begun."""

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


class Leadership:
    """What this replica does while it leads. `acquired` and `lost` are the elector's callbacks.

    `failed` is called with an unexpected error, and if the deciding ended by itself while the Lease
    is still ours. Then nothing is decided any more and no other replica may decide, so the process
    should end.
    """

    def __init__(
        self,
        ledger: Ledger,
        client: Client,
        elector: Elector,
        fence: Fence,
        reflectors: Sequence[Reflector[Any]],
        events: EventRecorder,
        metrics: Metrics,
        notifier: ChangeNotifier,
        settings: Settings,
        clock: Callable[[], float],
        failed: Callable[[BaseException], None],
        *,
        later: Later = in_loop_later,
        parts: Sequence[TermPart] = (),
        definition: QueueDefinition | None = None,
    ) -> None:
        """`clock`: seconds, monotonic. `later`: ends the time of reservations (E8). `parts`: what
        else begins and ends with our terms. `definition`: of Queues, if it is watched.
        """
        standalone = settings.scheduler == "standalone"
        self._definition = definition or QueueDefinition(standalone=standalone)
        self._parts = parts
        self._ledger = ledger
        self._client = client
        self._elector = elector
        self._fence = fence
        self._reflectors = reflectors
        self._events = events
        self._metrics = metrics
        self._settings = settings
        self._clock = clock
        self._failed = failed
        self._later = later
        self._unsettled = False
        self._term: asyncio.Task[None] | None = None
        self._releaser: GateReleaser | None = None
        self._views: QueueViews | None = None
        self._unadmitted = UnadmittedReports(ledger, events)
        self._namespaces = NamespaceReports(ledger, events)
        self._memory = MemoryReports(ledger, events)
        self._flush: asyncio.TimerHandle | None = None
        self._flushed_at = float("-inf")
        self._notifier = notifier
        notifier.listen(self._ledger_changed)

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
        releaser, self._releaser = self._releaser, None
        handover: Revisions | None = None
        if releaser is not None:
            drained = await asyncio.gather(
                releaser.drain(timeout), *(part.drain(timeout) for part in self._parts)
            )
            if all(drained):
                handover = await self._seen_by_now()
            else:
                self._unsettled = True
        if self._term is not None:
            await ended({self._term})
        return StopResult(settled=not self._unsettled, handover=handover)

    async def _seen_by_now(self) -> Revisions | None:
        """What a successor must have seen, once we have seen all our own writes; else None."""
        gates_seen = self._ledger.decisions.all_seen()

        def seen() -> bool:
            return gates_seen() and all(part.all_seen for part in self._parts)

        if not await self._notifier.wait_for(seen, OWN_WRITES):
            return None
        return {reflector.kind: reflector.applied for reflector in self._reflectors}

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
        lease = self._settings.leader_election
        try:
            await settle_and_catch_up(
                self._elector,
                self._reflectors,
                self._client,
                self._fence.held,
                settle=lease.settle,
                renew_deadline=lease.renew_deadline,
            )
        except LeadershipLost as reason:
            _LOG.info("term %s ended before it decided anything: %s", term, reason)
            return
        operator = QueueOperator(
            standalone=self._standalone,
            definition=self._definition,
            unwritten=self._metrics.unwritten_queues.set,
        )
        self._definition.listen(operator.restart)
        try:
            await self.decide(term, operator)
        finally:
            # It may take so long to end that the next term of ours has begun.
            self._definition.leave(operator.restart)

    @property
    def _standalone(self) -> bool:
        return self._settings.scheduler == "standalone"

    async def decide(self, term: str, operator: ReportReceiver) -> None:
        """Decide in this term until cancelled. Only for who knows that the Lease is ours, and that
        all has been seen that was decided before.
        """
        events = ConditionEvents(self._events)

        def post(queue: str, view: QueueReport | None) -> None:
            operator.post(queue, view)
            if not self._definition.place.has_state:
                events.look(queue, view)

        views = self._views = QueueViews(self._ledger, post, clock=self._clock)
        releaser = self._releaser = self._make_releaser(term)
        self._metrics.leader.set(1)
        operator.start()
        self.report_all()
        for part in self._parts:
            part.begin(term)
        self._memory.start()
        ask_for_left_out(self._ledger, asked=True)
        self._flush_later()
        try:
            await releaser.run()
        finally:
            self._metrics.leader.set(0)
            self._releaser = self._views = None
            views.stop()
            self._unadmitted.stop()
            self._namespaces.stop()
            self._memory.stop()
            ask_for_left_out(self._ledger, asked=False)
            for part in self._parts:
                await part.end()
            await operator.stop()

    def _make_releaser(self, term: str) -> GateReleaser:
        release = self._settings.release

        def writer(guard: Fence | None = None) -> FencedWriter:
            return FencedWriter(
                self._client,
                self._elector.time_left,
                timeout=release.patch_timeout,
                at_a_time=release.in_flight,
                guard=guard,
            )

        told = GateReports(self._ledger, self._events, self._metrics)
        gate = GateOpener(
            self._ledger, writer(self._fence), writer(), refused=told.refused, unsure=told.unsure
        )
        conditions = GroupConditions(
            self._ledger,
            term=term,
            stored=_of_ours if self._standalone else _beside_volcano,
        )
        groups = PodGroupWriter(
            self._ledger,
            writer(self._fence),
            writer(),
            conditions=conditions if self._standalone else None,
            shared=not self._standalone,
        )
        beside = None
        if not self._standalone:
            beside = QuotaConditions(self._ledger, writer(), conditions)
        return GateReleaser(
            self._ledger,
            gate,
            groups,
            StampWriter(self._ledger, writer(), term=term),
            self._events,
            self._metrics,
            conditions,
            term=term,
            in_flight=release.in_flight,
            reservation_timeout=self._settings.reservation_timeout,
            clock=self._clock,
            later=self._later,
            starvation_wait=release.starvation_wait,
            quota_conditions=beside,
            renew_after=self._settings.events.renew_after,
        )

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

    def report_changes(self) -> None:
        """Report changed numbers, nodes and namespaces, and ungated pods in audit mode.

        Done by itself soon after news came. Outside a term it does nothing.
        """
        self._flush, self._flushed_at = None, self._clock()
        if self._views is None:
            return
        unadmitted_left = report_unadmitted(self._ledger, self._events)
        told = not unadmitted_left and report_nodes(self._ledger, self._events)
        told = told and self._memory.look() and report_left_out(self._ledger, self._events)
        if not (told and self._namespaces.look()):
            self._flush_later()
        slice_ = TimeSlice(LEADER_SLICE, self._clock)
        for _ in self._ledger.shares.refresh():  # marks whoever deserves another amount now
            if slice_.over:
                self._flush_later()
                break
        changed = self._ledger.dirty.take_changed()
        self._unadmitted.look(changed)
        self._views.changed(changed)

    def tell_group(self, group: PodGroupState, verdict: Verdict) -> None:
        """Tell a group why it is not enqueued, once per reason; outside a term it does nothing."""
        if self._releaser is not None:
            self._releaser.tell_group(group, verdict)

    def report_all(self) -> None:
        """Report every queue, whatever was reported before; outside a term it does nothing."""
        if self._views is not None:
            queues = [account.name for account in self._ledger.accounts()]
            self._unadmitted.look(queues)
            self._views.changed(queues)


def _of_ours(facts: GroupFacts) -> StoredCondition:
    return facts.condition


def _beside_volcano(facts: GroupFacts) -> StoredCondition:
    return facts.quota_condition.stored

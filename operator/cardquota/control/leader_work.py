"""What a leader does in one term: it opens gates, updates PodGroups, and reports.

Numbers of queues go to who publishes them, events to whom they are about. All of it ends with the
term; the next one begins anew.
"""

import asyncio
from collections.abc import Callable, Sequence
from typing import Final, Protocol

from ..cluster.api.client import Client
from ..cluster.events.events import EventRecorder
from ..cluster.watch.change_notifier import ChangeNotifier
from ..cluster.writes import FencedWriter, TermGuard
from ..loop.time_slice import LEADER_SLICE, Later, TimeSlice, in_loop_later
from ..metrics import Metrics
from ..quota.ledger.groups.pod_group_state import PodGroupState
from ..quota.ledger.ledger import Ledger
from ..quota.reports.queue_report import QueueReport
from ..quota.verdict import Verdict
from ..settings import Settings
from .queues.queue_views import QueueViews
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
        receiver.start()
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

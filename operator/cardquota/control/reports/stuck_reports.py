"""What is stuck, told while we lead: gauges, events on pods that should be gone, log lines (R7).

A pod whose node died holds its quota until somebody deletes it by force; a pod that waits, and a
workload whose pods were refused, were told why at first, and that event is gone within the hour.

Guarantees: a look is in slices, and costs by what is being deleted, waits or lacks pods; the next
one comes after a pause that is at least ten times as long. Each thing is told once in a term.
Memory is bounded by the things that are stuck.
Not guaranteed: that more than a few log lines come of one look. Of the rest it says how many.
"""

import asyncio
import logging
import time
from collections import defaultdict
from collections.abc import Callable
from typing import Final

from ...cluster.events.events import EventRecorder
from ...loop.ended import ended
from ...loop.time_slice import LEADER_SLICE, TimeSlice
from ...metrics import Metrics
from ...quota import vocabulary as v
from ...quota.accounts.account import OUTSIDE
from ...quota.amounts import is_card
from ...quota.ledger.ledger_reader import LedgerReader
from ...quota.stuck.denied import DeniedWorkload, DeniedWorkloads, describe_denied
from ...quota.stuck.gated import GateReasons, describe_gated, long_at_the_gate
from ...quota.stuck.stuck_finding import StuckFinding, StuckKind
from ...quota.stuck.terminating import StuckPod, describe_late, late_to_end
from ...quota.words import logged
from ...settings import Settings
from ..queues.queue_metrics import UNKNOWN
from ..references import pod_reference

_LOG = logging.getLogger(__name__)
MOST_LOGGED: Final = 16
"""Things of one kind that one look names in the log."""
SETTLED: Final = 2.0
"""Seconds for which a workload whose controller does not report refusals must have lacked pods:
until then they may be about to come."""
_SHARE: Final = 10
"""The pause is at least so many times as long as the look."""
_TALK: Final = {
    StuckKind.TERMINATING: "pods that should have ended",
    StuckKind.GATED: "pods that have waited for long",
    StuckKind.DENIED: "workloads that lack pods",
}


class _Told:
    """What of one kind was told in this term, by uid."""

    def __init__(self, kind: StuckKind) -> None:
        self._kind = kind
        self._told: set[str] = set()
        self._now: set[str] = set()
        self._logged = 0
        self._more = 0

    def begin(self) -> None:
        """A look begins."""
        self._now, self._logged, self._more = set(), 0, 0

    def is_news(self, uid: str) -> bool:
        """Whether it is to be told. If not, it is kept as told."""
        if uid in self._told:
            self._now.add(uid)
            return False
        return True

    @property
    def speaks(self) -> bool:
        """Whether another one is named in the log."""
        return self._logged < MOST_LOGGED

    def tell(self, uid: str, finding: StuckFinding | None) -> None:
        """It counts as told from now on; without a finding among the others."""
        self._now.add(uid)
        if finding is None:
            self._more += 1
            return
        self._logged += 1
        where = logged(finding.namespace, finding.name)
        _LOG.warning("%s %s %s", finding.kind, where, finding.sentence)

    def end(self) -> None:
        """A look ends: what is not stuck any more is forgotten."""
        self._told, self._now = self._now, set()
        if self._more:
            _LOG.warning(
                "%d more %s: `kubectl cardquota check` names all", self._more, _TALK[self._kind]
            )


class _StuckNumbers:
    """The rows of the gauges, as they are found."""

    def __init__(self, ledger: LedgerReader) -> None:
        self._ledger = ledger
        self._rows = defaultdict[str, defaultdict[tuple[str, ...], float]](
            lambda: defaultdict(float)
        )

    def add(self, name: str, queue: str | None, oldest: str, age: float | None) -> None:
        """One more of a queue, this old."""
        label = self._label(queue)
        self._rows[name][label,] += 1
        if age is not None:
            row = self._rows[oldest]
            row[label,] = max(row[label,], age)

    def add_cards(self, found: StuckPod) -> None:
        """What such a pod holds."""
        label = self._label(found.record.queue)
        for card, amount in found.record.charge:
            if is_card(card):
                known = card if self._ledger.is_known(card) else UNKNOWN
                self._rows["terminating_stuck_cards"][label, known] += amount

    def rows(self) -> dict[str, list[tuple[tuple[str, ...], float]]]:
        """By gauge."""
        return {name: list(found.items()) for name, found in self._rows.items()}

    def _label(self, queue: str | None) -> str:
        if queue == OUTSIDE:
            return OUTSIDE
        account = self._ledger.account(queue) if queue is not None else None
        return UNKNOWN if account is None or account.facts is None else account.name


class StuckReports:
    """The looks of one term after the other. Belongs to the ledger's loop."""

    def __init__(
        self,
        ledger: LedgerReader,
        events: EventRecorder,
        metrics: Metrics,
        settings: Settings,
        clock: Callable[[], float],
        *,
        wall_clock: Callable[[], float] = time.time,
    ) -> None:
        """`clock`: seconds, monotonic. `wall_clock`: seconds since 1970."""
        self._ledger = ledger
        self._events = events
        self._metrics = metrics
        self._stuck = settings.stuck
        self._require_queue = settings.require_queue
        self._clock = clock
        self._wall_clock = wall_clock
        self._lacking: dict[str, float] = {}
        """By uid of a workload that does not say since when it lacks pods: when that was first
        seen, by `clock`."""
        self._told = {kind: _Told(kind) for kind in StuckKind}
        self._looks: asyncio.Task[None] | None = None

    # --- a term -------------------------------------------------------------------------------

    def begin(self, _: str) -> None:
        """Look from now on."""
        self._looks = asyncio.get_running_loop().create_task(self._look_again_and_again())

    async def drain(self, _: float) -> bool:
        """Nothing is decided here."""
        return True

    async def end(self) -> None:
        """The term is over: show nothing, and forget what was told."""
        if self._looks is not None:
            await ended({self._looks})
            self._looks = None
        self._metrics.stuck.show({})
        self._lacking.clear()
        self._told = {kind: _Told(kind) for kind in StuckKind}

    @property
    def all_seen(self) -> bool:
        """Nothing that a successor has to know is decided here."""
        return True

    async def _look_again_and_again(self) -> None:
        while True:
            begun = self._clock()
            try:
                await self.look()
            except Exception:  # noqa: BLE001
                _LOG.exception("what is stuck was not found out")
            await asyncio.sleep(max(self._stuck.every, _SHARE * (self._clock() - begun)))

    # --- a look -------------------------------------------------------------------------------

    async def look(self) -> None:
        """Find what is stuck now, show it, and tell what is new. Done by itself while we lead."""
        slice_, now = TimeSlice(LEADER_SLICE, self._clock), self._wall_clock()
        numbers = _StuckNumbers(self._ledger)
        for told in self._told.values():
            told.begin()
        for late in late_to_end(self._ledger, now, self._stuck.terminating_after):
            if late is not None:
                self._terminating(late, numbers)
            await slice_.give_way()
        reasons = GateReasons(self._ledger)
        for waits in long_at_the_gate(self._ledger, now, self._stuck.gated_after):
            if waits is not None:
                self._gated(waits, reasons, numbers)
            await slice_.give_way()
        before, self._lacking = self._lacking, {}
        found = DeniedWorkloads(self._ledger, require_queue=self._require_queue)
        for lacks in found.found():
            if lacks is not None:
                self._denied(lacks, now, before, numbers)
            await slice_.give_way()
        for told in self._told.values():
            told.end()
        self._metrics.stuck.show(numbers.rows())

    def _terminating(self, found: StuckPod, numbers: _StuckNumbers) -> None:
        record = found.record
        oldest = "terminating_stuck_oldest_seconds"
        numbers.add("terminating_stuck_pods", record.queue, oldest, found.age)
        numbers.add_cards(found)
        told = self._told[StuckKind.TERMINATING]
        if not told.is_news(record.facts.uid) or not self._events.has_room:
            return
        finding = describe_late(self._ledger, found, knows_nodes=True)
        told.tell(record.facts.uid, finding if told.speaks else None)
        self._events.record(
            pod_reference(record.facts),
            type="Warning",
            reason=v.STUCK_TERMINATING,
            message=finding.sentence,
        )

    def _gated(self, found: StuckPod, reasons: GateReasons, numbers: _StuckNumbers) -> None:
        record = found.record
        numbers.add("gated_stuck_pods", record.queue, "gated_stuck_oldest_seconds", found.age)
        told = self._told[StuckKind.GATED]
        if told.is_news(record.facts.uid):
            finding = describe_gated(found, reasons.of(record)) if told.speaks else None
            told.tell(record.facts.uid, finding)

    def _denied(
        self, found: DeniedWorkload, now: float, before: dict[str, float], numbers: _StuckNumbers
    ) -> None:
        facts, age = found.facts, None
        if found.since is not None:
            age = max(0, int(now - found.since))
        else:
            first = before.get(facts.uid, self._clock())
            self._lacking[facts.uid] = first
            age = int(self._clock() - first)
            if age < SETTLED and not facts.certain:
                return
        numbers.add("denied_workloads", found.queue, "denied_workloads_oldest_seconds", age)
        told = self._told[StuckKind.DENIED]
        if told.is_news(facts.uid):
            finding = describe_denied(found, age, judged=True) if told.speaks else None
            told.tell(facts.uid, finding)

"""What it costs to tell 20,000 who wait again: for age, after a change of the quota, and by a new
leader.

The real `WaitReports` over a ledger, at a pretended time; events are taken by nobody. So a figure
is the processor time of one event, and how many are written in a second of that time.
"""

import time
from collections import Counter
from typing import Any, Final

from builders import CARDS, H200, Body, a_ledger, a_pod, a_queue, see
from builders.pod import PodBody
from cardquota.cluster.events import ObjectReference
from cardquota.control.release import AT_A_TIME, WaitReports
from cardquota.loop import TimeSlice
from cardquota.quota.accounts import Account
from cardquota.quota.ledger import Ledger
from cardquota.quota.release import release_cycle
from cardquota.settings import Settings

from ..figure import Figure, Report

WAITING: Final = (1_000, 20_000)
QUEUES: Final = 100
HOUR: Final = 3_600.0
"""Seconds for which the API server keeps an event."""
_CREATED: Final = "2026-01-01T00:00:00Z"


def run(report: Report) -> None:
    """Pods that are all alike, and pods that each ask for something else, in 100 queues."""
    for what, alike in (("pods alike", True), ("pods all unlike", False)):
        costs = [_told(report, what, number, alike=alike) for number in WAITING]
        report(
            Figure(
                f"{what}: a renewed event, {WAITING[-1]:,} who wait against {WAITING[0]:,}",
                costs[1] / costs[0],
                "",
                3.0,
            )
        )


def _told(report: Report, what: str, number: int, *, alike: bool) -> float:
    """Microseconds of a renewed event."""
    waiting = WaitingPods(number, alike=alike)
    who = f"{what}, {number:,} wait"
    waiting.look()
    spent = waiting.go_on(0.0)
    report(Figure(f"{who}: a first event", spent * 1e6 / waiting.take(), "us"))
    settings = Settings().events
    cost = 0.0
    for turn, why in enumerate(
        ("for its age", "after a change of the quota", "by a new leader"),
    ):
        if turn == 0:
            waiting.now += settings.renew_after
        elif turn == 1:
            waiting.lower_quotas()
        else:
            waiting.begin_term()
        begun = waiting.now
        spent = waiting.go_on(HOUR - settings.renew_after)
        told = waiting.take()
        if told < number:
            raise RuntimeError(f"{told} of {number} were told again {why}")
        report(Figure(f"{who}: one that is written again {why}", spent * 1e6 / told, "us"))
        most = settings.renewals_per_second + AT_A_TIME
        report(Figure(f"{who}: in one second at most, {why}", waiting.most(begun), "", most))
        if turn == 0:
            cost = spent * 1e6 / told
            rate = settings.renewals_per_second
            report(Figure(f"{who}: of a core, while these are written", cost * rate / 1e6, ""))
    return cost


class WaitingPods:
    """Who waits, and the time."""

    def __init__(self, number: int, *, alike: bool) -> None:
        self.now = 0.0
        self.times = list[float]()
        self._taken = 0
        self._wanted: float | None = None
        self._ledger = _ledger(number, alike=alike)
        self.begin_term(first=True)

    # --- what the reports use ----------------------------------------------------------------

    has_room, sound = True, 0
    """Every event is taken at once."""

    def record(self, ref: ObjectReference, **_: Any) -> None:
        """One event."""
        self.times.append(self.now)

    def last_reason(self, uid: str) -> str | None:
        """Of nobody: as a new leader knows it."""
        return None

    def cancel(self) -> None:
        """Not called at that time."""
        self._wanted = None

    def later(self, seconds: float) -> "WaitingPods":
        """Called after so many seconds."""
        self._wanted = self.now + seconds
        return self

    # --- what happens ------------------------------------------------------------------------

    def begin_term(self, *, first: bool = False) -> None:
        """A leader begins; others led before, or nobody."""
        self._reports = WaitReports(
            self._ledger,
            self,  # type: ignore[arg-type]
            clock=lambda: self.now,
            later=self.later,
            renew_after=Settings().events.renew_after,
            renewals_per_second=Settings().events.renewals_per_second,
            told_before="" if first else "2027-01-01T00:00:00Z",
        )
        self._wanted = None
        self.look()

    def lower_quotas(self) -> None:
        """Of all queues."""
        for number in range(QUEUES):
            see(self._ledger, _queue(number, 2).at_revision(2))
        self.look()

    def look(self) -> None:
        """All queues are judged."""
        for number in range(QUEUES):
            account = self._ledger.account(f"q{number}")
            assert isinstance(account, Account)
            list(release_cycle(self._ledger, account))
            self._reports.look(account.name)

    def go_on(self, seconds: float) -> float:
        """For so long of the pretended time. Returns the processor time that it took."""
        end, begun = self.now + seconds, time.thread_time()
        while True:
            if self._reports.go_on(TimeSlice()):
                continue
            if self._wanted is None or self._wanted > end:
                break
            self.now, self._wanted = self._wanted, None
        spent = time.thread_time() - begun
        self.now = end
        return spent

    def take(self) -> int:
        """How many events there were since this was asked last."""
        before, self._taken = self._taken, len(self.times)
        return self._taken - before

    def most(self, since: float) -> int:
        """The most of one second."""
        return max(Counter(int(at) for at in self.times if at >= since).values())


def _queue(number: int, quota: int) -> Any:
    return a_queue(f"q{number}").with_quota({H200: quota})


def _ledger(number: int, *, alike: bool) -> Ledger:
    queues: list[Body] = [_queue(n, 4) for n in range(QUEUES)]
    ledger = a_ledger(*CARDS, *queues)
    for queue in range(QUEUES):
        holder = a_pod(f"holds-{queue}").in_queue(f"q{queue}").naming(H200).asking_for(2)
        see(ledger, holder.stamped(f"q{queue}", {H200: 2}).on_node("h200-a"))
    for one in range(number):
        see(ledger, _waits(one, alike=alike))
    return ledger


def _waits(number: int, *, alike: bool) -> PodBody:
    pod = a_pod(f"p{number:05}").in_queue(f"q{number % QUEUES}").naming(H200).asking_for(3)
    pod = pod if alike else pod.with_cpu(f"{1 + number}m")
    return pod.gated().put(_CREATED, "metadata", "creationTimestamp")

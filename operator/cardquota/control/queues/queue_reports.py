"""Changed numbers of queues, on their way to the status writer.

The work is spread: a queue is reported at most once per second, as often as it may be written. If
very many change at once, they are reported slice by slice.
"""

from collections import OrderedDict, deque
from collections.abc import Callable, Iterable
from typing import Final

from ...loop.time_slice import LEADER_SLICE, TimeSlice
from ...quota.ledger.ledger_reader import LedgerReader
from ...quota.reports.queue_report import QueueReport, report
from ..later import Later, Timer, in_loop_later

_EVERY: Final = 0.1
"""Seconds for which changes are gathered."""
_REST: Final = 1.0
"""Seconds between two reports of one queue."""


class QueueReports:
    """The reports of one term. Belongs to the ledger's loop.

    Guarantees: every change of a queue is handed over within little more than a second; no call
    takes longer than a time slice and one report; memory is bounded by the queues.
    """

    def __init__(
        self,
        ledger: LedgerReader,
        post: Callable[[str, QueueReport | None], None],
        *,
        clock: Callable[[], float],
        later: Later = in_loop_later,
    ) -> None:
        """`post` takes a queue with its numbers, None if it is gone. `clock`: seconds, monotonic.
        `later` calls a function after a number of seconds.
        """
        self._ledger = ledger
        self._post = post
        self._clock = clock
        self._later = later
        self._due = OrderedDict[str, None]()
        """Queues to be reported as soon as there is time, first come first."""
        self._resting: dict[str, bool] = {}
        """Queues that were reported in the last second, and whether they have changed since."""
        self._rested_at: deque[tuple[float, str]] = deque()
        """When each of them may be reported again."""
        self._timer: Timer | None = None
        self._timer_at = 0.0
        self._flushed_at = float("-inf")

    def __len__(self) -> int:
        """Queues that are remembered: to be reported, or reported in the last second."""
        return len(self._due) + len(self._resting)

    def changed(self, queues: Iterable[str]) -> None:
        """The numbers of these queues have changed."""
        for queue in queues:
            self._want(queue)
        self._call_later()

    def all(self) -> None:
        """Report every queue: earlier reports may be lost."""
        self._resting.clear()
        self._rested_at.clear()
        self.changed([account.name for account in self._ledger.accounts()])

    def stop(self) -> None:
        """The term is over."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        for names in (self._due, self._resting, self._rested_at):
            names.clear()

    def _want(self, queue: str) -> None:
        if queue in self._resting:
            self._resting[queue] = True
        else:
            self._due[queue] = None

    def _report(self, queue: str) -> QueueReport | None:
        return report(self._ledger, queue)

    def _call_later(self) -> None:
        if not (self._due or self._rested_at):
            return
        at = self._flushed_at + _EVERY
        if not self._due:
            at = max(at, self._rested_at[0][0])
        if self._timer is not None:
            if self._timer_at <= at:
                return
            self._timer.cancel()
        self._call_at(at)

    def _call_at(self, at: float) -> None:
        self._timer_at = at
        self._timer = self._later(max(0.0, at - self._clock()), self._flush)

    def _flush(self) -> None:
        self._timer = None
        slice_ = TimeSlice(LEADER_SLICE, self._clock)
        for _ in self._ledger.shares.refresh():
            if slice_.over:
                self._call_at(self._clock())
                return
        now = self._clock()
        while self._rested_at and self._rested_at[0][0] <= now:
            _, queue = self._rested_at.popleft()
            if self._resting.pop(queue):
                self._due[queue] = None
        while self._due and not slice_.over:
            queue, _ = self._due.popitem(last=False)
            self._resting[queue] = False
            self._rested_at.append((now + _REST, queue))
            self._post(queue, self._report(queue))
        if self._due:
            self._call_at(self._clock())
        else:
            self._flushed_at = self._clock()
            self._call_later()

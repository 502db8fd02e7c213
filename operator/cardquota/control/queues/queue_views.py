"""The totals of queues have changed: their latest views, on their way to who publishes them."""

from collections.abc import Callable, Iterable
from typing import Final

from ...loop.time_slice import LEADER_SLICE, Later, Timer, TimeSlice, in_loop_later
from ...quota.ledger.ledger_reader import LedgerReader
from ...quota.reports.queue_report import QueueReport, report

INTERVAL: Final = 1.0
"""Seconds between two views of one queue, and between two writes of it."""


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
        while self._batch and shares_known and not slice_.over:
            queue = next(iter(self._batch))
            del self._batch[queue]
            self._post(queue, report(self._ledger, queue))
        self._call_later()

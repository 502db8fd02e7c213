"""Reports of queues on their way from the ledger's thread to Kopf's."""

import threading
from collections.abc import Callable
from typing import Protocol

from ...quota.reports.queue_report import QueueReport


class ThreadsafeLoop(Protocol):
    """What is needed of an event loop."""

    def call_soon_threadsafe(self, call: Callable[[], None], /) -> object:
        """Have `call` run in the thread of the loop."""


class PostedReports:
    """One slot per queue, in which the latest report wins, and at most one call to take them.

    `post` may be called from any thread. However slow the other loop is, the number of queues
    bounds the memory. Reports are dropped while no loop is connected, and when it is disconnected
    before it took them: a loop that connects must ask for all of them.
    """

    def __init__(self, take: Callable[[str, QueueReport | None], None]) -> None:
        """`take` gets each report in the loop that is connected; None: the queue is gone."""
        self._take = take
        self._lock = threading.Lock()
        """Guards all fields below."""
        self._loop: ThreadsafeLoop | None = None
        self._posted: dict[str, QueueReport | None] = {}
        self._called = False
        """Whether the loop was called to take them."""

    def __len__(self) -> int:
        """How many wait to be taken."""
        return len(self._posted)

    def post(self, queue: str, report: QueueReport | None) -> None:
        """Hand over new numbers of a queue, or that it is gone."""
        with self._lock:
            if self._loop is None:
                return
            self._posted[queue] = report
            if not self._called:
                self._called = True
                self._loop.call_soon_threadsafe(self._hand_over)

    def connect(self, loop: ThreadsafeLoop) -> None:
        """From now on reports are taken in this loop."""
        with self._lock:
            self._loop = loop

    def disconnect(self) -> None:
        """Drop what was not taken, and all that is posted from now on."""
        with self._lock:
            self._loop, self._posted, self._called = None, {}, False

    def _hand_over(self) -> None:
        with self._lock:
            posted, self._posted, self._called = self._posted, {}, False
        for name, report in posted.items():
            self._take(name, report)

"""What one change means for very many pods, in slices between other work.

A node may change what fits for tens of thousands of waiting pods. A namespace, queue or pod group
may have to be read again for as many: some 40 us each, or a few ms if one is as large as it may be.
"""

import asyncio
from typing import Final

from ...loop.time_slice import TimeSlice
from ...quota.ledger.ledger import Ledger
from .change_notifier import ChangeNotifier

PAUSE: Final = 0.02
"""Seconds between two slices, each of which takes some milliseconds."""


class CatchingUp:
    """Works on the ledger's backlog until there is none. Belongs to the ledger's loop."""

    def __init__(self, ledger: Ledger, notifier: ChangeNotifier) -> None:
        self._ledger = ledger
        self._notifier = notifier
        self._next: asyncio.TimerHandle | None = None

    def look(self) -> None:
        """The ledger changed: continue soon if it has a backlog. Cheap if it has none."""
        if self._ledger.behind and self._next is None:
            self._next = asyncio.get_running_loop().call_later(PAUSE, self._go_on)

    def _go_on(self) -> None:
        self._next = None
        self._ledger.catch_up()
        self._notifier.notify()
        self.look()


AT_ONCE: Final = 100
"""Pods that one event may re-read itself before the rest is left to this class. A large pod counts
as several.
"""


class OverdueReads:
    """Belongs to the ledger's loop. It starts by itself, and stops when nothing is left to do.

    Its work changes the ledger, so it notifies listeners once in each slice.
    """

    def __init__(self, ledger: Ledger, notifier: ChangeNotifier) -> None:
        self._ledger = ledger
        self._notifier = notifier
        self._due = False
        notifier.listen(self._look)

    def _look(self) -> None:
        if self._ledger.overdue and not self._due:
            self._due = True
            asyncio.get_running_loop().call_soon(self._go_on)

    def _go_on(self) -> None:
        self._due = False
        slice_ = TimeSlice()
        self._ledger.reassessment.read_overdue(lambda: slice_.over)
        # Listeners check again, and so does this object.
        self._notifier.notify()

"""Has pods read anew that an event about something else has changed, a few at a time.

A namespace, queue or pod group may concern tens of thousands of pods that wait. To read one anew
takes some 40 us, or a few ms where it is as large as a pod may be, and nobody else has a turn in
the meantime.
"""

import asyncio
from typing import Final

from ...loop.time_slice import TimeSlice
from ...quota.ledger.ledger import Ledger
from .change_notifier import ChangeNotifier

AT_ONCE: Final = 100
"""Pods that one event may have read anew before the others are left to this; a large one counts as
several.
"""


class OverdueReads:
    """Belongs to the ledger's loop; it begins by itself, and ends when nothing is left to do.

    While it works the ledger changes, so listeners are notified once in each slice.
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
        self._ledger.read_overdue(lambda: slice_.over)
        # Who listens looks again, and so do we.
        self._notifier.notify()

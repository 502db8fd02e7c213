"""Re-reads pods that an event about another object has changed, a few at a time.

A namespace, queue or pod group may affect tens of thousands of waiting pods. Re-reading one takes
some 40 us, or a few ms if it is as large as a pod may be, and blocks the loop meanwhile.
"""

import asyncio
from typing import Final

from ...loop.time_slice import TimeSlice
from ...quota.ledger.ledger import Ledger
from .change_notifier import ChangeNotifier

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

"""Applies what a change of nodes means for very many waiting pods, in slices between other work."""

import asyncio
from typing import Final

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

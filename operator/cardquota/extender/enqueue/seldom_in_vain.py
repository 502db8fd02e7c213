"""Waiting for something, but seldom in vain: who asks does nothing else meanwhile."""

from collections.abc import Callable
from typing import Final

from ...cluster.watch.change_notifier import ChangeNotifier

PAUSE: Final = 20
"""How many times as long as one wait in vain none is waited for after it."""


class SeldomInVain:
    """Waits of one kind. In vain it waits for a twentieth of the time, however often it is asked
    to: Volcano's scheduler asks about one group after another, and a tenant may make thousands.
    """

    def __init__(
        self, notifier: ChangeNotifier, seconds: float, clock: Callable[[], float]
    ) -> None:
        """`seconds`: the longest wait. `clock`: seconds, monotonic."""
        self._notifier = notifier
        self._seconds = seconds
        self._clock = clock
        self._not_before: float | None = None

    async def wait_for(self, condition: Callable[[], bool]) -> bool:
        """Returns whether `condition` holds, at once if another wait was in vain not long ago."""
        if condition():
            return True
        if self._not_before is not None and self._clock() < self._not_before:
            return False
        found = await self._notifier.wait_for(condition, self._seconds)
        if not found:
            self._not_before = self._clock() + PAUSE * self._seconds
        return found

"""Waiting for something, but not for long in all: who asks does nothing else meanwhile."""

from collections.abc import Callable
from typing import Final

from ...cluster.watch.change_notifier import ChangeNotifier

SHARE: Final = 0.1
"""Part of the time that may be spent waiting."""
_LEAST: Final = 0.1
"""Part of the longest wait that must be left for another one."""


class WaitBudget:
    """Waits of one kind. Together they take a tenth of the time, however many there are: Volcano's
    scheduler asks about one group after another, and a tenant may make thousands. It schedules
    nothing meanwhile.
    """

    def __init__(
        self, notifier: ChangeNotifier, seconds: float, clock: Callable[[], float]
    ) -> None:
        """`seconds`: the longest wait, and what may be spent at once. `clock`: seconds,
        monotonic.
        """
        self._notifier = notifier
        self._seconds = seconds
        self._clock = clock
        self._left = seconds
        self._counted_at = clock()

    async def wait_for(self, condition: Callable[[], bool]) -> bool:
        """Returns whether `condition` holds: as soon as it does, or when no time is left."""
        if condition():
            return True
        began = self._clock()
        self._left = min(self._seconds, self._left + SHARE * (began - self._counted_at))
        self._counted_at = began
        longest = self._left
        if longest < _LEAST * self._seconds:
            return False
        # Taken first: whoever asks many times at once shares it, too.
        self._left -= longest
        found = await self._notifier.wait_for(condition, longest)
        if found:
            self._left += max(0.0, longest - (self._clock() - began))
        return found

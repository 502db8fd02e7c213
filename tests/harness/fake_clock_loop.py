"""An event loop whose clock goes on only when nobody in it has anything left to do."""

import asyncio
import selectors
from collections.abc import Callable
from typing import Any, Never

_BEGIN = 1_000.0
_ROUNDS = 200_000
"""Of a loop at one moment: so much is no work that a test has, it is somebody who never waits."""

Ready = list[tuple[selectors.SelectorKey, int]]


class NothingWillHappenError(Exception):
    """Everybody waits, and nobody for a time: on a real clock the test would never end."""


class ClockStandsError(Exception):
    """Somebody tries again and again without any pause, so that no time passes."""


class FakeClockLoop(asyncio.SelectorEventLoop):
    """What waits for a time is woken in the order of these times, at once.

    Guarantees: `time()` stands still while anything runs, and is then that of the next timer; so
    what a test sees depends neither on how fast the machine is nor on what else it does, and an
    hour costs nothing.
    Not guaranteed: anything about other clocks. A product that reads one has to be given `time`.
    Threads and sockets are refused by a RuntimeError: nothing here waits for them. Errors of the
    test as a whole: NothingWillHappenError, ClockStandsError.
    """

    def __init__(self) -> None:
        self._now = _BEGIN
        super().__init__(_FakeSelector(self.go_on))

    def time(self) -> float:
        """Seconds on the fake clock."""
        return self._now

    def go_on(self, seconds: float) -> None:
        """Let time pass."""
        self._now += seconds

    def run_in_executor(self, *_: Any) -> Never:  # type: ignore[override]
        raise RuntimeError("a fake clock does not wait for threads")


def pass_by(seconds: float) -> None:
    """Let time pass on the running loop while nobody has a turn: whoever is due then is late."""
    loop = asyncio.get_running_loop()
    assert isinstance(loop, FakeClockLoop)
    loop.go_on(seconds)


class _FakeSelector(selectors.DefaultSelector):
    """Of the loop's own pipe alone. What it would wait for is what the clock goes on by."""

    def __init__(self, go_on: Callable[[float], None]) -> None:
        super().__init__()
        self._go_on = go_on
        self._rounds = 0

    def register(self, *args: Any, **kwargs: Any) -> selectors.SelectorKey:
        if self.get_map():
            raise RuntimeError("a fake clock does not wait for sockets")
        key: selectors.SelectorKey = super().register(*args, **kwargs)
        return key

    def select(self, timeout: float | None = None) -> Ready:
        found: Ready = super().select(0)
        if found or timeout == 0:
            self._rounds += 1
            if self._rounds > _ROUNDS:
                self._rounds = 0
                raise ClockStandsError
            return found
        self._rounds = 0
        if timeout is None:
            raise NothingWillHappenError
        self._go_on(timeout)
        return []

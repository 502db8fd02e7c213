"""How long the event loop was held up, and for how long that is shown, by a clock of our own."""

import asyncio
import logging
import selectors
from collections.abc import Callable, Coroutine
from functools import partial

import pytest

from cardquota.loop import LoopWatch, TimedSelector
from cardquota.metrics import Metrics

Ready = list[tuple[selectors.SelectorKey, int]]


class ManualClock:
    """Stands still until it is told to go on."""

    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now

    def pass_by(self, seconds: float) -> None:
        self.now += seconds


class Watched:
    """A loop that is measured."""

    def __init__(self) -> None:
        self.clock = ManualClock()
        self.selector = TimedSelector(self.clock)
        self.metrics = Metrics()

    def start(self) -> None:
        LoopWatch(self.selector, self.metrics, clock=self.clock)

    def run(self, *work: Callable[[], None]) -> None:
        """Each in a stretch of its own."""

        async def main() -> None:
            self.start()
            for step in work:
                await asyncio.sleep(0)
                step()
            for _ in range(2):  # what a step has begun runs in the round after it
                await asyncio.sleep(0)

        self.run_it(main())

    def run_it(self, main: Coroutine[None, None, None]) -> None:
        with asyncio.Runner(loop_factory=lambda: asyncio.SelectorEventLoop(self.selector)) as one:
            one.run(main)

    @property
    def longest(self) -> float:
        return self.metrics.registry.get_sample_value("cardquota_loop_seconds") or 0.0


@pytest.fixture
def watched(caplog: pytest.LogCaptureFixture) -> Watched:
    caplog.set_level(logging.WARNING)
    return Watched()


def test_the_longest_is_measured(watched: Watched, caplog: pytest.LogCaptureFixture) -> None:
    watched.run(*(partial(watched.clock.pass_by, seconds) for seconds in (0.01, 0.099, 0.002)))
    assert watched.longest == pytest.approx(0.099)
    assert not caplog.records


def test_what_is_ready_at_once_is_one_stretch(watched: Watched) -> None:
    """Each of them is short; whoever waits for the loop waits for all."""

    def many() -> None:
        loop = asyncio.get_running_loop()
        for _ in range(10):
            loop.call_soon(watched.clock.pass_by, 0.006)

    watched.run(many)
    assert watched.longest == pytest.approx(0.06)


def test_what_comes_before_the_start_does_not_count(watched: Watched) -> None:
    """The first list of a large cluster takes its time, and nobody waits for us yet."""

    async def main() -> None:
        watched.clock.pass_by(2)
        await asyncio.sleep(0)
        watched.start()
        await asyncio.sleep(0)

    watched.run_it(main())
    assert watched.longest == 0


def test_a_loop_that_is_called_back_late_was_held_up(watched: Watched) -> None:
    """Its timer was due and another thread had the interpreter: the time before counts too."""
    select = selectors.DefaultSelector.select

    def late(selector: TimedSelector, timeout: float | None) -> Ready:
        if timeout:
            watched.clock.pass_by(timeout + 0.3)
            return []
        return select(selector, timeout)

    async def main() -> None:
        watched.start()
        await asyncio.sleep(0.5)
        await asyncio.sleep(0)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(selectors.DefaultSelector, "select", late)
        patch.setattr(asyncio.SelectorEventLoop, "time", lambda _: watched.clock())
        watched.run_it(main())
    assert watched.longest == pytest.approx(0.3, abs=0.01)


def test_the_log_has_a_line_in_ten_s(watched: Watched, caplog: pytest.LogCaptureFixture) -> None:
    def held_up() -> None:
        watched.clock.pass_by(0.1324)

    watched.run(*[held_up] * 5, lambda: watched.clock.pass_by(11))
    assert caplog.messages == [
        "the event loop was held up for 132 ms",
        "the event loop was held up for 11000 ms",
    ]


def test_the_longest_is_shown_for_one_to_two_windows(watched: Watched) -> None:
    """The clock begins at 1000 s; a window is a minute."""
    watched.start()
    assert watched.longest == 0
    shown = list[float]()
    for passed, stretch in ((0, 0.2), (1, 0.3), (1, 0.1), (60, 0.01), (60, 0.02), (1000, 0.005)):
        watched.clock.pass_by(passed)
        watched.selector.on_stretch(stretch)
        shown.append(watched.longest)
    assert shown == [0.2, 0.3, 0.3, 0.3, 0.02, 0.005]
    watched.clock.pass_by(120)
    assert watched.longest == 0

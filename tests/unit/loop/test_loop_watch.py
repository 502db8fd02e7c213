"""How long the event loop was held up, by what, and where. The clock is the test's own."""

import asyncio
import gc
import logging
import selectors
import threading
from collections.abc import Callable, Iterator

import pytest

from cardquota.loop.loop_watch import LoopWatch
from cardquota.loop.timed_selector import TimedSelector
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
    """A loop that is measured, without the watching thread: the test looks itself."""

    def __init__(self) -> None:
        self.clock = ManualClock()
        self.selector = TimedSelector(self.clock)
        self.metrics = Metrics()
        self.processor: Callable[[], float] = self.clock
        """Of the loop's thread: as the clock goes, where it has a processor all the time."""
        self.watch = LoopWatch(
            self.selector,
            self.metrics,
            clock=self.clock,
            processor_time=lambda _: lambda: self.processor(),
        )

    def run(self, *work: Callable[[], None]) -> None:
        """Each in a stretch of its own."""

        async def main() -> None:
            self.watch.start(threaded=False)
            for step in work:
                await asyncio.sleep(0)
                step()
            for _ in range(2):  # what a step has begun runs in the round after it
                await asyncio.sleep(0)
            self.watch.stop()

        with asyncio.Runner(loop_factory=lambda: asyncio.SelectorEventLoop(self.selector)) as r:
            r.run(main())

    @property
    def longest(self) -> float:
        return self.metrics.registry.get_sample_value("cardquota_loop_seconds") or 0.0

    def stalls(self, cause: str) -> float | None:
        labels = {"cause": cause}
        return self.metrics.registry.get_sample_value("cardquota_loop_stalls_total", labels)


@pytest.fixture
def watched(caplog: pytest.LogCaptureFixture) -> Iterator[Watched]:
    caplog.set_level(logging.WARNING)
    found = Watched()
    yield found
    found.watch.stop()
    assert found.watch.collection not in gc.callbacks


def test_the_longest_stretch_is_measured(
    watched: Watched, caplog: pytest.LogCaptureFixture
) -> None:
    watched.run(
        lambda: watched.clock.pass_by(0.01),
        lambda: watched.clock.pass_by(0.049),
        lambda: watched.clock.pass_by(0.002),
    )
    assert watched.longest == pytest.approx(0.049)
    assert [watched.stalls(cause) for cause in ("work", "collector", "starved")] == [0, 0, 0]
    assert not caplog.records


def test_what_is_ready_at_once_is_one_stretch(watched: Watched) -> None:
    """Each of them is short; whoever waits for the loop waits for all."""

    def many() -> None:
        loop = asyncio.get_running_loop()
        for _ in range(10):
            loop.call_soon(watched.clock.pass_by, 0.006)

    watched.run(many)
    assert watched.longest == pytest.approx(0.06)
    assert watched.stalls("work") == 1


def test_the_log_says_where_the_loop_was(
    watched: Watched, caplog: pytest.LogCaptureFixture
) -> None:
    def work() -> None:
        watched.clock.pass_by(0.03)
        watched.watch.look()  # as the watching thread does, while this runs
        watched.clock.pass_by(0.05)

    watched.run(work)
    (line,) = caplog.messages
    assert line.startswith("the event loop was held up for 80 ms, work, in ")
    # The innermost frame of the loop's thread; here the look itself is in it.
    assert "cardquota/loop/loop_watch.py" in line
    assert " look" in line


def test_a_look_at_another_stretch_is_not_told(
    watched: Watched, caplog: pytest.LogCaptureFixture
) -> None:
    def looked_at() -> None:
        watched.clock.pass_by(0.03)
        watched.watch.look()

    watched.run(looked_at, lambda: watched.clock.pass_by(0.07))
    (line,) = caplog.messages
    assert line == "the event loop was held up for 70 ms, work"


def test_a_loop_that_does_not_run_is_starved(watched: Watched) -> None:
    def not_running() -> None:
        processor = watched.clock()
        watched.processor = lambda: processor
        watched.clock.pass_by(0.2)

    watched.run(not_running)
    assert (watched.stalls("starved"), watched.stalls("work")) == (1, 0)


def test_the_garbage_collector_is_told_apart(
    watched: Watched, caplog: pytest.LogCaptureFixture
) -> None:
    def collect() -> None:
        watched.watch.collection("start", {})
        watched.clock.pass_by(0.06)
        watched.watch.collection("stop", {})
        watched.clock.pass_by(0.01)

    watched.run(collect, lambda: watched.clock.pass_by(0.06))
    assert (watched.stalls("collector"), watched.stalls("work")) == (1, 1)
    assert "collector, garbage collector 60 ms" in caplog.messages[0]


def test_what_another_thread_collects_meanwhile_does_no_harm(
    watched: Watched, caplog: pytest.LogCaptureFixture
) -> None:
    """An error here would end the loop, which calls this while it asks what is ready."""
    others: list[threading.Thread] = []

    def collect() -> None:
        watched.watch.collection("start", {})
        watched.clock.pass_by(0.01)
        watched.clock.now = GivesWay(watched.clock.now)
        watched.watch.collection("stop", {})

    class GivesWay(float):
        """A time: whoever compares it lets another thread run, as Python may at any step."""

        def __gt__(self, other: float) -> bool:
            others.append(threading.Thread(target=collect))
            others[-1].start()
            others[-1].join()
            return super().__gt__(other)

    def held_up() -> None:
        for _ in range(3):
            collect()
        watched.clock.pass_by(0.06)

    watched.run(held_up)
    assert len(others) == 3
    assert caplog.messages[0].endswith("for 90 ms, work, garbage collector 30 ms")


def test_no_more_collections_are_remembered_than_are_needed(
    watched: Watched, caplog: pytest.LogCaptureFixture
) -> None:
    """The last 16: a stretch in which there are more was held up by them as it is."""

    def collect() -> None:
        for _ in range(100):
            watched.watch.collection("start", {})
            watched.clock.pass_by(0.002)
            watched.watch.collection("stop", {})

    watched.run(collect)
    assert caplog.messages[0].endswith("for 200 ms, work, garbage collector 32 ms")


def test_a_loop_that_is_called_back_late_was_held_up(watched: Watched) -> None:
    """Its timer was due and another thread had the interpreter: the time before counts too."""
    select = selectors.DefaultSelector.select

    def late(selector: TimedSelector, timeout: float | None) -> Ready:
        if timeout:
            watched.clock.pass_by(timeout + 0.3)
            return []
        return select(selector, timeout)

    async def main() -> None:
        watched.watch.start(threaded=False)
        await asyncio.sleep(0.5)
        await asyncio.sleep(0)

    with (
        pytest.MonkeyPatch.context() as patch,
        asyncio.Runner(loop_factory=lambda: asyncio.SelectorEventLoop(watched.selector)) as runner,
    ):
        patch.setattr(selectors.DefaultSelector, "select", late)
        patch.setattr(asyncio.SelectorEventLoop, "time", lambda _: watched.clock())
        runner.run(main())
    assert watched.longest == pytest.approx(0.3, abs=0.01)


def test_the_log_has_one_line_in_ten_seconds(
    watched: Watched, caplog: pytest.LogCaptureFixture
) -> None:
    def held_up() -> None:
        watched.clock.pass_by(0.1)

    watched.run(*[held_up] * 5, lambda: watched.clock.pass_by(11), held_up)
    assert watched.stalls("work") == 7
    assert [line.rpartition("(")[2] for line in caplog.messages] == [
        "the event loop was held up for 100 ms, work",
        "4 more since the last line)",
    ]


def test_the_watching_thread_looks_and_ends() -> None:
    selector, metrics = TimedSelector(), Metrics()
    watch = LoopWatch(selector, metrics)
    looked = threading.Event()
    watch.look = looked.set  # type: ignore[method-assign]

    async def main() -> None:
        watch.start()
        assert await asyncio.to_thread(looked.wait, 10)
        watch.stop()

    with asyncio.Runner(loop_factory=lambda: asyncio.SelectorEventLoop(selector)) as runner:
        runner.run(main())
    for thread in [t for t in threading.enumerate() if t.name == "loop-watch"]:
        thread.join(10)
        assert not thread.is_alive()

"""A benchmark finds the longest stretch whenever, and in however many pieces, it comes."""

import asyncio
from collections.abc import Awaitable, Callable
from time import thread_time

import pytest

from bench.loop.stall_world import World
from bench.loop.takeover import Stretches, StretchSelector
from cardquota.loop import TimedSelector


def busy(seconds: float) -> None:
    end = thread_time() + seconds
    while thread_time() < end:
        pass


def run(selector: TimedSelector, main: Callable[[], Awaitable[None]]) -> None:
    async def inside() -> None:
        await main()

    with asyncio.Runner(loop_factory=lambda: asyncio.SelectorEventLoop(selector)) as runner:
        runner.run(inside())


def at_once() -> None:
    busy(0.03)


def a_moment_later() -> None:
    asyncio.get_running_loop().call_later(0.03, busy, 0.03)


def some_turns_later(turns: int = 6) -> None:
    if turns:
        asyncio.get_running_loop().call_soon(some_turns_later, turns - 1)
    else:
        busy(0.03)


@pytest.mark.parametrize("work", [at_once, a_moment_later, some_turns_later])
def test_what_follows_later_is_in_the_figure(work: Callable[[], None]) -> None:
    selector, found = TimedSelector(thread_time), []

    async def main() -> None:
        world = World(selector)
        found.append(await world.worst(work))
        await world.end()

    run(selector, main)
    assert 30 <= found[0] < 300


def test_callbacks_of_one_turn_are_one_stretch() -> None:
    selector = StretchSelector(thread_time)
    stretches = Stretches(selector)

    async def main() -> None:
        await asyncio.sleep(0)
        with stretches.measured():
            for _ in range(10):
                asyncio.get_running_loop().call_soon(busy, 0.01)
            await asyncio.sleep(0)
            await asyncio.sleep(0)

    run(selector, main)
    assert stretches.longest >= 100
    assert stretches.by_the_clock >= 100

"""A benchmark finds the longest stretch whenever, and in however many pieces, it comes."""

import asyncio
from collections.abc import Callable
from time import thread_time

import pytest

from bench.loop import stall_world
from bench.loop.stall_world import World


def busy(seconds: float) -> None:
    end = thread_time() + seconds
    while thread_time() < end:
        pass


def at_once() -> None:
    busy(0.03)


def a_moment_later() -> None:
    asyncio.get_running_loop().call_later(0.03, busy, 0.03)


def some_turns_later(turns: int = 6) -> None:
    if turns:
        asyncio.get_running_loop().call_soon(some_turns_later, turns - 1)
    else:
        busy(0.03)


def three_in_one_turn() -> None:
    for _ in range(3):
        asyncio.get_running_loop().call_soon(busy, 0.01)


@pytest.mark.parametrize("work", [at_once, a_moment_later, some_turns_later, three_in_one_turn])
def test_what_follows_later_is_in_the_figure(work: Callable[[], None]) -> None:
    found = list[float]()

    async def main(world: World) -> None:
        found.append(await world.worst(work))

    stall_world.run(main)
    assert 30 <= found[0] < 300

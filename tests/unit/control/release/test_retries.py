"""What failed is tried again: later each time, once, and not remembered for ever."""

import asyncio

import pytest

from cardquota.control.release import Retries
from harness.fake_clock_loop import pass_by

from ..fakes import until

pytestmark = pytest.mark.fake_clock


def now() -> float:
    return asyncio.get_running_loop().time()


async def test_later_each_time() -> None:
    tries: list[float] = []
    retries = Retries[str](lambda _: tries.append(now()), first=0.02, cap=1.0)
    began = now()
    for number in range(1, 5):
        retries.failed("a")
        await until(lambda n=number: len(tries) == n)
    assert tries[0] - began >= 0.01
    assert tries[3] - tries[2] >= 0.08


async def test_never_twice_for_one_failure() -> None:
    tries: list[str] = []
    retries = Retries[str](tries.append, first=0.02, cap=1.0)
    for _ in range(50):
        retries.failed("a")
    await asyncio.sleep(0.1)
    assert tries == ["a"]


async def test_what_worked_begins_anew() -> None:
    tries: list[str] = []
    retries = Retries[str](tries.append, first=0.01, cap=1.0)
    for _ in range(5):
        retries.failed("a")
        retries.worked("a")
    assert len(retries) == 0
    retries.failed("a")
    await until(lambda: tries == ["a"], 0.1)


async def test_nothing_after_the_end() -> None:
    tries: list[str] = []
    retries = Retries[str](tries.append, first=0.01, cap=0.02)
    retries.failed("a")
    retries.stop()
    await asyncio.sleep(0.05)
    assert tries == []


async def test_many_that_are_due_at_once_are_tried_some_at_a_time() -> None:
    """All of a large gang may have failed in one moment."""
    tries: list[int] = []
    retries = Retries[int](tries.append, first=0.001, cap=1.0)
    for number in range(1_000):
        retries.failed(number)
    pass_by(0.002)  # all of them, while nobody has a turn
    most = 0
    while len(tries) < 1_000:
        before = len(tries)
        await asyncio.sleep(0)
        most = max(most, len(tries) - before)
    assert most == 100
    assert sorted(tries) == list(range(1_000))


async def test_what_worked_and_failed_anew_is_not_tried_for_the_failure_before() -> None:
    tries: list[str] = []
    retries = Retries[str](tries.append, first=0.02, cap=0.02)
    retries.failed("a")
    retries.worked("a")
    retries.failed("a")
    await until(lambda: tries)
    await asyncio.sleep(0.03)
    assert tries == ["a"]

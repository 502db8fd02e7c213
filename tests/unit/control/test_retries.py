"""What failed is tried again: later each time, by one timer, and not remembered for ever."""

import asyncio

from cardquota.control.retries import Retries

from .stage import until


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


async def test_never_by_two_timers() -> None:
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


async def test_what_does_not_fail_again_is_forgotten() -> None:
    """Or every pod that ever failed would be remembered."""
    retries = Retries[str](lambda _: None, first=0.01, cap=0.02)
    retries.failed("a")
    assert len(retries) == 1
    await until(lambda: len(retries) == 0, 0.5)


async def test_nothing_after_the_end() -> None:
    tries: list[str] = []
    retries = Retries[str](tries.append, first=0.01, cap=0.02)
    retries.failed("a")
    retries.stop()
    await asyncio.sleep(0.05)
    assert tries == []

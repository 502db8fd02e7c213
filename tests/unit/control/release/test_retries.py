"""What failed is tried again: later each time, once, and not remembered for ever."""

import asyncio
from itertools import pairwise

import pytest

from cardquota.control.release import Retries
from cardquota.control.release.pacing import AT_MOST, TRY_AGAIN

pytestmark = pytest.mark.fake_clock


class Tried:
    def __init__(self) -> None:
        self.at: list[float] = []
        self.retries = Retries[str](lambda _: self.at.append(asyncio.get_running_loop().time()))


async def test_later_each_time_and_once_for_each_failure() -> None:
    tried, begun = Tried(), asyncio.get_running_loop().time()
    for number in range(1, 9):
        for _ in range(50):
            tried.retries.failed("a")
        await asyncio.sleep(AT_MOST)
        assert len(tried.at) == number
    assert TRY_AGAIN / 2 <= tried.at[0] - begun <= TRY_AGAIN
    pauses = [later - sooner - AT_MOST for sooner, later in pairwise(tried.at[:5])]
    assert pauses[3] > 2 * pauses[0] - TRY_AGAIN
    await asyncio.sleep(3 * AT_MOST)
    assert len(tried.retries) == 0, "it has not failed for long"


async def test_what_worked_begins_anew_and_is_not_tried_for_the_failure_before() -> None:
    tried = Tried()
    for _ in range(5):
        tried.retries.failed("a")
        tried.retries.worked("a")
    assert len(tried.retries) == 0
    tried.retries.failed("a")
    await asyncio.sleep(AT_MOST)
    assert len(tried.at) == 1


async def test_nothing_after_the_end() -> None:
    tried = Tried()
    tried.retries.failed("a")
    tried.retries.stop()
    await asyncio.sleep(AT_MOST)
    assert (tried.at, len(tried.retries)) == ([], 0)

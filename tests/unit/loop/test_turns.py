"""I5: many short pieces of work that come at once hold up nobody."""

import asyncio
from functools import partial

import pytest

from cardquota.loop import Turns, time_slice


@pytest.fixture
def each_slice_is_over(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(time_slice, "SLICE", 0.0)


async def test_they_are_done_in_the_order_in_which_they_came() -> None:
    turns, done = Turns[None](), list[int]()
    await asyncio.gather(*(turns.do(partial(done.append, n)) for n in range(5)))
    assert done == list(range(5))
    # And so are those that come in the moment in which the last one is done.
    for number in range(5, 8):
        await turns.do(partial(done.append, number))
    assert done == list(range(8))


async def test_each_has_its_own_result_or_error() -> None:
    turns = Turns[int]()

    def fails() -> int:
        raise ValueError("no")

    found = await asyncio.gather(
        turns.do(lambda: 1), turns.do(fails), turns.do(lambda: 3), return_exceptions=True
    )
    assert [found[0], str(found[1]), found[2]] == [1, "no", 3]


@pytest.mark.usefixtures("each_slice_is_over")
async def test_others_are_at_work_in_between() -> None:
    turns, done = Turns[None](), list[int]()
    tasks = [asyncio.create_task(turns.do(partial(done.append, n))) for n in range(10)]
    seen = []
    while len(done) < 10:
        await asyncio.sleep(0)
        seen.append(len(done))
    assert set(seen) == set(range(11))
    await asyncio.gather(*tasks)


@pytest.mark.usefixtures("each_slice_is_over")
async def test_who_is_cancelled_before_his_turn_has_none() -> None:
    turns, done = Turns[None](), list[int]()
    tasks = [asyncio.create_task(turns.do(partial(done.append, n))) for n in range(3)]
    await asyncio.sleep(0)
    tasks[2].cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
    assert done == [0, 1]


@pytest.mark.usefixtures("each_slice_is_over")
async def test_nobody_waits_for_ever_when_all_tasks_are_cancelled() -> None:
    """As at the end of a loop."""
    turns = Turns[None]()
    tasks = [asyncio.create_task(turns.do(lambda: None)) for _ in range(3)]
    await asyncio.sleep(0)
    for task in asyncio.all_tasks() - {asyncio.current_task(), *tasks}:
        task.cancel()
    found = await asyncio.gather(*tasks, return_exceptions=True)
    assert any(isinstance(one, asyncio.CancelledError) for one in found)
    await turns.do(lambda: None)

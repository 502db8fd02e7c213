"""I5: work that takes long gives way, and short work that comes at once stands in line."""

import asyncio
from functools import partial

import pytest

from cardquota.loop import TimeSlice, WorkQueue, in_slices, timing
from cardquota.quota import Steps, to_its_end


async def test_others_run_when_a_slice_is_over() -> None:
    now = 0.0
    slice_ = TimeSlice(0.01, lambda: now)
    ran: list[float] = []

    async def other() -> None:
        while len(ran) < 3:
            ran.append(now)
            await asyncio.sleep(0)

    task = asyncio.create_task(other())
    gave = []
    for _ in range(40):
        now += 0.001
        gave.append(await slice_.give_way())
    await task
    assert (gave.count(True), gave[:10]) == (4, [False] * 9 + [True])
    assert [round(at, 3) for at in ran] == [0.01, 0.02, 0.03]


def work(done: list[int]) -> Steps[str]:
    for number in range(5):
        done.append(number)
        yield
    return "done"


async def test_steps_are_done_in_slices(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(timing, "SLICE", 0.0)
    done: list[int] = []
    task = asyncio.create_task(in_slices(work(done)))
    seen = []
    while not task.done():
        await asyncio.sleep(0)
        seen.append(len(done))
    assert await task == to_its_end(work([])) == "done"
    assert sorted(set(seen)) == [1, 2, 3, 4, 5]


@pytest.fixture
def each_slice_is_over(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(timing, "SLICE", 0.0)


async def test_they_are_done_in_the_order_in_which_they_came() -> None:
    turns, done = WorkQueue[None](), list[int]()
    await asyncio.gather(*(turns.do(partial(done.append, n)) for n in range(5)))
    assert done == list(range(5))
    # And so are those that come in the moment in which the last one is done.
    for number in range(5, 8):
        await turns.do(partial(done.append, number))
    assert done == list(range(8))


async def test_each_has_its_own_result_or_error() -> None:
    turns = WorkQueue[int]()

    def fails() -> int:
        raise ValueError("no")

    found = await asyncio.gather(
        turns.do(lambda: 1), turns.do(fails), turns.do(lambda: 3), return_exceptions=True
    )
    assert [found[0], str(found[1]), found[2]] == [1, "no", 3]


@pytest.mark.usefixtures("each_slice_is_over")
async def test_others_are_at_work_in_between() -> None:
    turns, done = WorkQueue[None](), list[int]()
    tasks = [asyncio.create_task(turns.do(partial(done.append, n))) for n in range(10)]
    seen = []
    while len(done) < 10:
        await asyncio.sleep(0)
        seen.append(len(done))
    assert set(seen) == set(range(11))
    await asyncio.gather(*tasks)


@pytest.mark.usefixtures("each_slice_is_over")
async def test_who_is_cancelled_before_his_turn_has_none() -> None:
    turns, done = WorkQueue[None](), list[int]()
    tasks = [asyncio.create_task(turns.do(partial(done.append, n))) for n in range(3)]
    await asyncio.sleep(0)
    tasks[2].cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
    assert done == [0, 1]


@pytest.mark.usefixtures("each_slice_is_over")
async def test_nobody_waits_for_ever_when_all_tasks_are_cancelled() -> None:
    """As at the end of a loop."""
    turns = WorkQueue[None]()
    tasks = [asyncio.create_task(turns.do(lambda: None)) for _ in range(3)]
    await asyncio.sleep(0)
    for task in asyncio.all_tasks() - {asyncio.current_task(), *tasks}:
        task.cancel()
    found = await asyncio.gather(*tasks, return_exceptions=True)
    assert any(isinstance(one, asyncio.CancelledError) for one in found)
    await turns.do(lambda: None)

"""Work that takes long gives way."""

import asyncio

import pytest

from cardquota.loop import TimeSlice, in_slices
from cardquota.loop import time_slice as module
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
    monkeypatch.setattr(module, "SLICE", 0.0)
    done: list[int] = []
    task = asyncio.create_task(in_slices(work(done)))
    seen = []
    while not task.done():
        await asyncio.sleep(0)
        seen.append(len(done))
    assert await task == to_its_end(work([])) == "done"
    assert sorted(set(seen)) == [1, 2, 3, 4, 5]

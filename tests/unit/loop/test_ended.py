"""Tasks end, also if a cancellation gets lost."""

import asyncio
import gc

import pytest

from cardquota.loop import ended

pytestmark = pytest.mark.fake_clock


async def deaf(times: int) -> None:
    """Loses so many cancellations, as a library does whose own time-out comes at once."""
    while True:
        try:
            await asyncio.sleep(3_600)
        except asyncio.CancelledError:
            if not times:
                raise
            times -= 1


async def broken() -> None:
    try:
        await asyncio.sleep(3_600)
    finally:
        raise ValueError("while it ends")


async def test_a_lost_cancellation_is_made_again(caplog: pytest.LogCaptureFixture) -> None:
    tasks = [asyncio.create_task(one) for one in (deaf(0), deaf(1), deaf(3), broken())]
    await asyncio.sleep(0)
    await ended(tasks)
    assert all(task.done() for task in tasks)
    del tasks
    gc.collect()
    assert caplog.text == "", "an error that nobody has asked for"


async def test_who_tidies_up_is_not_disturbed() -> None:
    tidied = list[str]()

    async def tidy() -> None:
        try:
            await asyncio.sleep(3_600)
        finally:
            await asyncio.sleep(6.0)
            tidied.append("all")

    task = asyncio.create_task(tidy())
    await asyncio.sleep(0)
    await ended([task])
    assert tidied == ["all"]


async def test_who_waits_for_the_end_may_be_cancelled_meanwhile() -> None:
    """As when one task ends others in its own end: then it waits for them all the same."""
    inner = [asyncio.create_task(deaf(2))]

    async def outer() -> None:
        try:
            await asyncio.sleep(3_600)
        finally:
            await ended(inner)

    task = asyncio.create_task(outer())
    await asyncio.sleep(0)
    await ended([task])
    assert inner[0].cancelled()
    assert task.cancelled()


async def test_none_are_no_wait() -> None:
    await ended([])

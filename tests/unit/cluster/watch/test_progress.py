"""How far a kind was told: forward only, and whoever waits for more is woken then."""

import asyncio

from cardquota.cluster.watch import Progress


def test_it_never_goes_back() -> None:
    progress = Progress()
    progress.told_up_to(7, at=20.0)
    progress.told_up_to(5, at=10.0)
    assert (progress.revision, progress.current_at) == (7, 20.0)


async def test_a_revision_is_awaited_until_it_was_told() -> None:
    progress = Progress()
    waiting = asyncio.create_task(progress.reached(7))
    await asyncio.sleep(0)
    progress.told_up_to(6, at=1.0)
    await asyncio.sleep(0)
    assert (progress.awaited, waiting.done()) == (True, False)
    progress.told_up_to(8, at=2.0)
    assert not progress.awaited
    await asyncio.wait_for(waiting, 1)


async def test_who_waits_no_longer_is_forgotten() -> None:
    progress = Progress()
    waiting = asyncio.create_task(progress.reached(7))
    await asyncio.sleep(0)
    waiting.cancel()
    await asyncio.gather(waiting, return_exceptions=True)
    assert not progress.awaited

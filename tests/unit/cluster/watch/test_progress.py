"""How far a kind was told: forward only, and whoever waits for more is woken then."""

import asyncio

from cardquota.cluster.watch import Progress


async def test_who_waits_no_longer_is_forgotten() -> None:
    progress = Progress()
    waiting = asyncio.create_task(progress.reached(7))
    await asyncio.sleep(0)
    waiting.cancel()
    await asyncio.gather(waiting, return_exceptions=True)
    assert not progress.awaited

"""What is made once in a while for all."""

import asyncio

import pytest

from cardquota.loop.turns import Latest

pytestmark = pytest.mark.fake_clock
EVERY = 5.0


async def test_f8_who_goes_away_does_not_have_it_made_more_often() -> None:
    begun: list[float] = []

    async def make() -> int:
        begun.append(asyncio.get_running_loop().time())
        await asyncio.sleep(1.0)
        return len(begun)

    latest = Latest(make, EVERY)
    for _ in range(3):
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.5):
                await latest.read()
    assert len(begun) == 1
    assert await latest.read() == 2
    assert begun[1] - begun[0] >= EVERY

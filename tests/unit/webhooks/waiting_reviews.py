"""Reviews that wait for something to be seen."""

import asyncio

from cardquota.cluster.watch import ChangeNotifier


async def until_waiting(notifier: ChangeNotifier, number: int = 1) -> None:
    """Until so many reviews wait."""
    async with asyncio.timeout(60.0):
        while notifier.waiting < number:  # noqa: ASYNC110 - nobody tells of it
            await asyncio.sleep(0)

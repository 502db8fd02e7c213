"""Volcano on the plane of a run: what it is set to, whom it trusts, and how it asks the product."""

import asyncio
import time

from cardquota_dev.plane.folder import Folder, write_private
from cardquota_dev.plane.product.enqueue import volcano_block
from cardquota_dev.testing import Cluster

from .api import Api
from .vote_way import VoteWay

PERIOD = 0.5
"""Seconds between two sessions of its scheduler. In each it writes about every group that waits."""


class VolcanoSide:
    """From `start` to `stop`, its scheduler asks by a way of ours."""

    def __init__(self, folder: Folder, way: VoteWay) -> None:
        self.way = way
        self._folder = folder

    async def start(self) -> None:
        """Lead its questions through our way."""
        await self.way.start()
        text = volcano_block(f"https://127.0.0.1:{self.way.port}")
        write_private(self._folder.volcano_config, text)

    async def stop(self) -> None:
        """Its way ends."""
        await self.way.stop()

    def trust(self, authorities: bytes) -> None:
        """Hand on the CAs of the product, as an administrator does when they change."""
        if self._folder.volcano_ca.read_bytes() != authorities:
            write_private(self._folder.volcano_ca, authorities.decode())


def volcano_side(cluster: Cluster) -> VolcanoSide:
    """The one of a plane on which the product runs beside Volcano."""
    assert cluster.folder is not None
    return VolcanoSide(cluster.folder, VoteWay(int(cluster.state.enqueue.rpartition(":")[2])))


async def until_part_ready(api: Api, address: str, seconds: float = 60.0) -> bool:
    """Whether a part of Volcano works again, within some seconds. `address`: of its process."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if (await api.ask("GET", f"{address}/readyz", timeout=2)).code == 200:
            return True
        await asyncio.sleep(0.2)
    return False

"""Volcano on the plane of a run: what it is set to, whom it trusts, and its way to the product, on
which its questions get lost, or the answers to them.
"""

import asyncio
import time
from contextlib import suppress

from cardquota_dev.plane.folder import Folder, write_private
from cardquota_dev.plane.product.enqueue import volcano_block
from cardquota_dev.testing import Cluster
from harness.proxy import Ends, Proxy

from .api import Api

_CHUNK = 65_536
PERIOD = 0.5
"""Seconds between two sessions of its scheduler. In each it writes about every group that waits."""


class VoteWay(Proxy):
    """A proxy between Volcano's scheduler and whoever of the product is asked.

    While it is closed no question comes to us. While it `loses_answers` we act on each, and Volcano
    does not know: it takes a failure for a rejection.
    """

    def __init__(self, port: int) -> None:
        super().__init__(port)
        self.loses_answers = False
        self.lost = 0
        """Answers."""

    async def _join(self, client: Ends, server: Ends) -> None:
        pieces = _Pieces()
        async with asyncio.TaskGroup() as pumps:
            pumps.create_task(self._ask(pieces, client[0], server[1]))
            pumps.create_task(self._answer(pieces, server[0], client[1]))

    @staticmethod
    async def _ask(
        pieces: "_Pieces", reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        with suppress(OSError):
            while data := await reader.read(_CHUNK):
                pieces.sent += 1
                writer.write(data)
                await writer.drain()
        writer.transport.abort()

    async def _answer(
        self, pieces: "_Pieces", reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        with suppress(OSError):
            while data := await reader.read(_CHUNK):
                if self.loses_answers and pieces.sent > 1:
                    self.lost += not pieces.lost
                    pieces.lost = True
                if not pieces.lost:  # of what is encrypted nothing may be left out
                    writer.write(data)
                    await writer.drain()
        writer.transport.abort()


class _Pieces:
    """What a connection has carried. The client's first piece begins the handshake of TLS; what the
    server says after the second one may be lost without ending that.
    """

    def __init__(self) -> None:
        self.sent = 0
        self.lost = False


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

"""Volcano's way to the product, on which its questions get lost, or the answers to them."""

import asyncio
from contextlib import suppress

from harness.proxy import Ends, Proxy

_CHUNK = 65_536


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

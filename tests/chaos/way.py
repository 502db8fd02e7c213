"""One replica's way to the API server, which can be cut, made late in one direction, or held.

What makes it worse than the proxy it is built on: bytes that are held are still delivered after
their sender has given up, or is dead. That is how a write lands long after its time-out.
"""

import asyncio
import random
from contextlib import suppress
from dataclasses import dataclass
from random import Random

from harness.proxy import Ends, Proxy

QUIET = 2.0
"""Seconds after which a connection on which the client says nothing is a watch (or idle)."""
LINGER = 3.0
"""Seconds the API server is given to act on what came late."""
PACE = 1.5
"""Seconds within which all that was held comes: if it came at once, much of it would time out."""
_CHUNK = 65_536
_GOODBYE, _GOODBYE_BYTES = b"\x17\x03\x03\x00\x13", 24
"""How a client's last record of TLS 1.3 begins (an alert), and how long it is."""


@dataclass(eq=False)
class Line:
    """One connection."""

    begun: float
    asked_at: float
    """When the client last sent anything."""
    told: int = 0
    """Bytes that the API server has sent."""
    held: asyncio.Event | None = None
    """Until it is set, what the client sends is kept here."""
    next_held: asyncio.Event | None = None
    """The same, from the client's second piece on."""
    stalled: asyncio.Event | None = None
    """Until it is set, what the API server sends is kept here."""
    kept: asyncio.Event | None = None
    """The same, whatever the client sends meanwhile."""
    late: bool = False
    """Whether anything was held on it."""


class Way(Proxy):
    """A proxy between one replica and the API server."""

    def __init__(self) -> None:
        super().__init__(0)
        self._lines: set[Line] = set()
        self.holding: asyncio.Event | None = None
        self._dice: Random | None = None

    def hold(self, dice: Random | None = None) -> asyncio.Event:
        """Keep what is sent to the API server on the present connections, until the event is set.

        Of new ones half are kept too, by the dice, if any are given: but for the first piece, so
        that what follows it is a request that arrives late, and not a handshake that fails.
        """
        until = asyncio.Event()
        for line in self._lines:
            line.held, line.late = until, True
        self.holding, self._dice = until, dice
        return until

    def stall_watches(self, *, pods_alone: bool = False) -> asyncio.Event:
        """Keep what the API server says on the present watches, until the event is set.

        Which is the watch of pods can only be told by how much comes on it.
        """
        until, now = asyncio.Event(), asyncio.get_running_loop().time()
        watches = [line for line in self._lines if now - line.asked_at >= QUIET]
        if pods_alone and watches:
            watches = [max(watches, key=lambda line: line.told / (1 + now - line.begun))]
        for line in watches:
            line.stalled = until
        return until

    def keep_answers(self) -> asyncio.Event:
        """Keep what the API server says on all present connections, until the event is set.

        What is asked for is done all the same, and the client does not know.
        """
        until = asyncio.Event()
        for line in self._lines:
            line.kept = until
        return until

    async def _join(self, client: Ends, server: Ends) -> None:
        now = asyncio.get_running_loop().time()
        line = Line(now, now)
        hold = None
        if self.holding is not None and not self.holding.is_set() and self._dice is not None:
            hold = self.holding if self._dice.random() < 0.5 else None
        line.next_held = hold
        self._lines.add(line)
        try:
            async with asyncio.TaskGroup() as pumps:
                pumps.create_task(self._send(line, client[0], server[1]))
                pumps.create_task(self._answer(line, server[0], client[1]))
        finally:
            self._lines.discard(line)

    async def _send(
        self, line: Line, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        with suppress(OSError):
            while data := await reader.read(_CHUNK):
                line.asked_at = asyncio.get_running_loop().time()
                line.stalled = None  # it was no watch, but an idle one
                await self._held(line)
                # On hearing that nobody waits any more the API server would drop what came late.
                ends = line.late and data[-_GOODBYE_BYTES:].startswith(_GOODBYE)
                writer.write(data[:-_GOODBYE_BYTES] if ends else data)
                await writer.drain()
                if line.next_held is not None:
                    line.held, line.next_held, line.late = line.next_held, None, True
        await self._held(line)
        if line.late:
            await asyncio.sleep(LINGER)
        writer.transport.abort()

    async def _answer(
        self, line: Line, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        with suppress(OSError):
            while data := await reader.read(_CHUNK):
                line.told += len(data)
                await self._wait(line.stalled)
                await self._wait(line.kept)
                writer.write(data)
                await writer.drain()
        writer.transport.abort()

    async def _held(self, line: Line) -> None:
        if line.held is not None:
            await line.held.wait()
            line.held = None
            await asyncio.sleep(random.uniform(0, PACE))

    @staticmethod
    async def _wait(event: asyncio.Event | None) -> None:
        if event is not None:
            await event.wait()

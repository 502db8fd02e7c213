"""A TCP proxy that can be cut, closed and stopped still."""

import asyncio
from contextlib import suppress

Ends = tuple[asyncio.StreamReader, asyncio.StreamWriter]
"""What comes from one side, and what goes to it."""


class Proxy:
    """A TCP proxy to one port, which can be cut, closed and stopped still."""

    def __init__(self, port: int) -> None:
        self.target = port
        self._writers: set[asyncio.StreamWriter] = set()
        self._tasks: set[asyncio.Task[None]] = set()
        self._flowing = asyncio.Event()
        self._flowing.set()
        self.open = True
        self.port = 0

    async def start(self) -> None:
        self._server = await asyncio.start_server(self._accept, "127.0.0.1", 0)
        self.port = self._server.sockets[0].getsockname()[1]

    def cut(self, *, stay_closed: bool = False) -> None:
        """End all connections; with `stay_closed` take no new ones until `reopen`."""
        self.open = not stay_closed
        for writer in self._writers:
            writer.transport.abort()

    def reopen(self) -> None:
        self.open = True

    def stall(self) -> None:
        """Let nothing through, in no direction, without closing anything."""
        self._flowing.clear()

    def flow(self) -> None:
        self._flowing.set()

    async def stop(self) -> None:
        self._server.close()
        self.cut(stay_closed=True)
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        ends = {writer}
        try:
            back, forth = await asyncio.open_connection("127.0.0.1", self.target)
            ends.add(forth)
            self._writers |= ends
            if self.open:
                await self._join((reader, writer), (back, forth))
        except (asyncio.CancelledError, OSError):
            pass  # by `stop`, or the target is away; the streams module would log it as an error
        finally:
            self._writers -= ends
            self._tasks.discard(task)
            for end in ends:
                end.transport.abort()

    async def _join(self, client: Ends, server: Ends) -> None:
        """Carry bytes both ways until one side ends."""
        async with asyncio.TaskGroup() as pumps:
            pumps.create_task(self._pump(client[0], server[1]))
            pumps.create_task(self._pump(server[0], client[1]))

    async def _pump(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(OSError):
            while data := await reader.read(65536):
                await self._flowing.wait()
                writer.write(data)
                await writer.drain()
        writer.transport.abort()

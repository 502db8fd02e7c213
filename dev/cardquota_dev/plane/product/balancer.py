"""The stand-in for a Service: one TCP port before the product's replicas.

Guarantees: a new connection goes to a replica that was ready at the last check, in turn. A replica
that refuses the connection is skipped. Not guaranteed: that a connection outlives its replica, or
that it is moved when its replica is no longer ready. As with a Service, a replica that has just
died may still be tried, and if no replica is ready a connection is closed at once.
"""

import asyncio
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass

import aiohttp

from ..copying import copied

INTERVAL = 0.5
"""Seconds between two checks of each replica."""

_TIMEOUT = aiohttp.ClientTimeout(total=2)


@dataclass(frozen=True)
class Backend:
    """One replica: its port, and the URL of its readiness."""

    port: int
    ready: str


class Balancer:
    """Listens from `start` to `stop`, in the running event loop."""

    def __init__(self, backends: Sequence[Backend]) -> None:
        self._backends = list(backends)
        self._ready: set[Backend] = set()
        self._turn = 0
        self._tasks: set[asyncio.Task[None]] = set()
        self._server: asyncio.Server | None = None

    async def start(self, port: int) -> None:
        """Listen on 127.0.0.1. No replica counts as ready yet."""
        self._server = await asyncio.start_server(self._accept, "127.0.0.1", port)
        self._keep(asyncio.create_task(self._ask()))

    async def stop(self) -> None:
        """Stop listening and cut every connection."""
        if self._server is not None:
            self._server.close()
        for task in (tasks := list(self._tasks)):
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _ask(self) -> None:
        async with aiohttp.ClientSession(timeout=_TIMEOUT) as session:
            while True:
                await asyncio.gather(*(self._ask_one(session, one) for one in self._backends))
                await asyncio.sleep(INTERVAL)

    async def _ask_one(self, session: aiohttp.ClientSession, backend: Backend) -> None:
        try:
            async with session.get(backend.ready) as answer:
                ready = answer.status == 200
        except (aiohttp.ClientError, TimeoutError):
            ready = False
        if ready:
            self._ready.add(backend)
        else:
            self._ready.discard(backend)

    def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._keep(asyncio.create_task(self._serve(reader, writer)))

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            opened = await self._connect()
            if opened is not None:
                await copied(reader, writer, *opened)
        finally:
            writer.close()

    async def _connect(self) -> tuple[asyncio.StreamReader, asyncio.StreamWriter] | None:
        for _ in self._backends:
            self._turn = (self._turn + 1) % len(self._backends)
            backend = self._backends[self._turn]
            if backend in self._ready:
                with suppress(OSError):
                    return await asyncio.open_connection("127.0.0.1", backend.port)
        return None

    def _keep(self, task: asyncio.Task[None]) -> None:
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

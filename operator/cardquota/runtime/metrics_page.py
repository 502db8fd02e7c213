"""The page of metrics: one in a second, for all who asked before it was begun."""

import asyncio
from collections.abc import Callable, Sequence
from typing import Any, Final

from prometheus_client import generate_latest

from ..cluster.watch.reflector import Reflector
from ..control.queues.queue_metrics import refresh
from ..metrics import Metrics
from ..quota.ledger.ledger_reader import LedgerReader

EVERY: Final = 1.0
"""Seconds between two pages, at least."""


class MetricsPage:
    """Written once at a time, however many ask: in the loop what the ledger knows, in slices, and
    in one thread its text, which takes long. Its numbers are of the time when it was asked for, or
    later.
    """

    def __init__(
        self,
        ledger: LedgerReader,
        metrics: Metrics,
        reflectors: Sequence[Reflector[Any]],
        leads: Callable[[], bool],
    ) -> None:
        self._ledger = ledger
        self._metrics = metrics
        self._reflectors = reflectors
        self._leads = leads
        self._coming: asyncio.Task[bytes] | None = None
        """Not yet begun."""
        self._one = asyncio.Lock()
        self._next = 0.0
        """When it may be begun."""

    async def read(self) -> bytes:
        """The text. Waits for the one before it, and for a second since then."""
        if self._coming is None:
            self._coming = asyncio.get_running_loop().create_task(self._in_turn())
        # Others wait for it, too: whoever leaves does not end it.
        return await asyncio.shield(self._coming)

    async def _in_turn(self) -> bytes:
        loop = asyncio.get_running_loop()
        async with self._one:
            await asyncio.sleep(max(0.0, self._next - loop.time()))
            self._coming = None
            try:
                return await self._write()
            finally:
                self._next = loop.time() + EVERY

    async def _write(self) -> bytes:
        await refresh(self._ledger, self._metrics, leads=self._leads())
        for reflector in self._reflectors:
            self._metrics.reflector_lag.labels(reflector.kind).set(reflector.lag())
        return await asyncio.to_thread(generate_latest, self._metrics.registry)

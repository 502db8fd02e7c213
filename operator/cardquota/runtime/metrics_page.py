"""The page of metrics: one for all who ask within a second."""

import asyncio
from collections.abc import Callable, Sequence
from typing import Any, Final

from prometheus_client import generate_latest

from ..cluster.watch.reflector import Reflector
from ..control.queues.queue_metrics import refresh
from ..metrics import Metrics
from ..quota.ledger.ledger_reader import LedgerReader

KEPT: Final = 1.0
"""Seconds for which a page is served again."""


class MetricsPage:
    """Written once at a time, however many ask: in the loop what the ledger knows, in slices, and
    in one thread its text, which takes long.
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
        self._page: asyncio.Task[bytes] | None = None
        self._until = 0.0
        """When the next is to be written."""

    async def read(self) -> bytes:
        """The text. Waits for the one that is being written, if one is."""
        loop = asyncio.get_running_loop()
        if self._page is None or (self._page.done() and loop.time() >= self._until):
            self._page = loop.create_task(self._write())
        # Others wait for it, too: whoever leaves does not end it.
        return await asyncio.shield(self._page)

    async def _write(self) -> bytes:
        await refresh(self._ledger, self._metrics, leads=self._leads())
        for reflector in self._reflectors:
            self._metrics.reflector_lag.labels(reflector.kind).set(reflector.lag())
        text = await asyncio.to_thread(generate_latest, self._metrics.registry)
        self._until = asyncio.get_running_loop().time() + KEPT
        return text

"""The plain HTTP server: `/healthz`, `/readyz`, `/metrics`. No secrets, no user text."""

import asyncio
from collections.abc import Callable, Sequence
from typing import Any

from aiohttp import web
from prometheus_client import CONTENT_TYPE_LATEST, generate_latest

from ..cluster.watch.reflector import Reflector
from ..control.queues.queue_metrics import refresh
from ..metrics import Metrics
from ..quota.ledger.ledger_reader import LedgerReader


class Probes:
    """Answers from the present state. The process sets `serving` and `draining`."""

    def __init__(
        self,
        ledger: LedgerReader,
        metrics: Metrics,
        reflectors: Sequence[Reflector[Any]],
        term: Callable[[], str | None],
        notes: Callable[[], Sequence[str]] = tuple,
    ) -> None:
        """`notes`: faults that people have to correct. Shown; they do not affect readiness."""
        self._ledger = ledger
        self._metrics = metrics
        self._reflectors = reflectors
        self._term = term
        self._notes = notes
        self.serving = False
        self.draining = False

    def application(self) -> web.Application:
        """The aiohttp application."""
        app = web.Application()
        app.router.add_get("/healthz", self._healthz)
        app.router.add_get("/readyz", self._readyz)
        app.router.add_get("/metrics", self._metrics_page)
        return app

    def not_ready(self) -> str:
        """Why we are not ready; empty if we are. A lagging watch does not affect readiness."""
        if self.draining:
            return "draining"
        waiting = [reflector.kind for reflector in self._reflectors if not reflector.synced]
        if waiting:
            return "not synced: " + ", ".join(waiting)
        return "" if self.serving else "not serving yet"

    async def _healthz(self, _: web.Request) -> web.Response:
        return web.Response(text="ok\n")

    async def _readyz(self, _: web.Request) -> web.Response:
        why = self.not_ready()
        notes = "".join(f"{note}\n" for note in self._notes())
        if why:
            return web.Response(status=503, text=f"{why}\n{notes}")
        late = [f"{r.kind} {r.lag():.0f} s" for r in self._reflectors if r.late]
        text = "ok" + (", leading" if self._term() else "")
        text += f", lagging: {', '.join(late)}" if late else ""
        return web.Response(text=f"{text}\n{notes}")

    async def _metrics_page(self, _: web.Request) -> web.Response:
        await refresh(self._ledger, self._metrics, leads=bool(self._term()))
        for reflector in self._reflectors:
            self._metrics.reflector_lag.labels(reflector.kind).set(reflector.lag())
        # Printing many rows takes long, and reviews must not wait for it.
        body = await asyncio.to_thread(generate_latest, self._metrics.registry)
        return web.Response(body=body, headers={"Content-Type": CONTENT_TYPE_LATEST})

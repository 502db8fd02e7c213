"""The plain HTTP servers: `/healthz` and `/readyz`, and with `/metrics`. No secrets, no user text.

Probes have a port of their own: whoever reads metrics does not make the kubelet wait.
"""

import asyncio
from collections.abc import Callable, Sequence
from http import HTTPStatus
from typing import Any, Final

from prometheus_client import CONTENT_TYPE_LATEST, generate_latest

from ..cluster.serving.http_call import BodyLimits, HttpAnswer, HttpCall, text_answer
from ..cluster.serving.http_server import HttpServer
from ..cluster.watch.reflector import Reflector
from ..control.queues.queue_metrics import refresh
from ..metrics import Metrics
from ..quota.ledger.ledger_reader import LedgerReader
from .metrics_access import MetricsAccess

CONNECTIONS: Final = 64
"""That may be open on one of these ports at one time."""
_REFUSED: Final = {
    HTTPStatus.UNAUTHORIZED: "send a bearer token",
    HTTPStatus.FORBIDDEN: "get on the URL /metrics is needed",
    HTTPStatus.TOO_MANY_REQUESTS: "too many ask at once: try again in a second",
    HTTPStatus.SERVICE_UNAVAILABLE: "the API server does not say who may read this",
}


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
        self._one = asyncio.Lock()
        self._text = b""
        self._begun = float("-inf")
        """When it was begun."""
        self._next = 0.0
        """When another one may be begun."""

    async def read(self) -> bytes:
        """The text. Waits for the one before it, and for a second since then."""
        loop = asyncio.get_running_loop()
        asked = loop.time()
        async with self._one:
            if self._begun < asked:
                await asyncio.sleep(max(0.0, self._next - loop.time()))  # and for all who ask now
                self._begun = loop.time()
                self._text = await self._write()
                self._next = loop.time() + EVERY
            return self._text

    async def _write(self) -> bytes:
        await refresh(self._ledger, self._metrics, leads=self._leads())
        for reflector in self._reflectors:
            self._metrics.reflector_lag.labels(reflector.kind).set(reflector.lag())
        return await asyncio.to_thread(generate_latest, self._metrics.registry)


class Probes:
    """Answers from the present state. The process sets `serving` and `draining`."""

    def __init__(
        self,
        page: MetricsPage,
        metrics: Metrics,
        reflectors: Sequence[Reflector[Any]],
        leads: Callable[[], bool],
        notes: Callable[[], Sequence[str]] = tuple,
        *,
        access: MetricsAccess | None = None,
    ) -> None:
        """`notes`: faults that people have to correct. Shown; they do not affect readiness.
        `access`: who may read the metrics; None: whoever reaches the port.
        """
        self._page = page
        self._refused = metrics.refused_request
        self._reflectors = reflectors
        self._leads = leads
        self._notes = notes
        self._access = access
        self.serving = False
        self.draining = False

    def http(self, *, metrics: bool) -> HttpServer:
        """A server that does not listen yet. `metrics`: whether it has these, too."""
        return HttpServer(
            self.answer if metrics else self.probe,
            BodyLimits(0, 0),
            connections=CONNECTIONS,
            refused=self._refused,
        )

    def not_ready(self) -> str:
        """Why we are not ready; empty if we are. A lagging watch does not affect readiness."""
        if self.draining:
            return "draining"
        waiting = [reflector.kind for reflector in self._reflectors if not reflector.synced]
        if waiting:
            return "not synced: " + ", ".join(waiting)
        return "" if self.serving else "not serving yet"

    async def probe(self, call: HttpCall) -> HttpAnswer:
        """Answer one of the kubelet's probes, or that there is no such page."""
        if call.method not in ("GET", "HEAD"):
            return text_answer(HTTPStatus.METHOD_NOT_ALLOWED, "this is only to be read")
        match call.path:
            case "/healthz":
                return text_answer(HTTPStatus.OK, "ok")
            case "/readyz":
                return self._readyz()
        return text_answer(HTTPStatus.NOT_FOUND, "nothing is here")

    async def answer(self, call: HttpCall) -> HttpAnswer:
        """The same, and the metrics."""
        if call.path != "/metrics" or call.method not in ("GET", "HEAD"):
            return await self.probe(call)
        if self._access is not None:
            status = await self._access.answer(call.headers.get("authorization", ""))
            if status is not HTTPStatus.OK:
                return text_answer(status, _REFUSED[status])
        return HttpAnswer(HTTPStatus.OK, await self._page.read(), CONTENT_TYPE_LATEST)

    def _readyz(self) -> HttpAnswer:
        why = self.not_ready()
        if why:
            return text_answer(HTTPStatus.SERVICE_UNAVAILABLE, "\n".join((why, *self._notes())))
        late = [f"{r.kind} {r.lag():.0f} s" for r in self._reflectors if r.late]
        text = "ok" + (", leading" if self._leads() else "")
        text += f", lagging: {', '.join(late)}" if late else ""
        return text_answer(HTTPStatus.OK, "\n".join((text, *self._notes())))


EVERY: Final = 1.0
"""Seconds between two pages, at least."""

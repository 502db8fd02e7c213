"""The plain HTTP servers: `/healthz` and `/readyz`, and with `/metrics` and the page.

Probes have a port of their own: whoever reads metrics does not make the kubelet wait. Who may read
the metrics, if that is asked, the API server says: `get` on the URL `/metrics`. The token crosses
the network in plain text, as the metrics do.
"""

import asyncio
from collections.abc import Callable, Sequence
from http import HTTPStatus
from typing import Any, Final

from prometheus_client import CONTENT_TYPE_LATEST, generate_latest

from ..cluster.api.token_access import AskedAccess, TokenAccess
from ..cluster.serving.bounds import BodyLimits, HttpAnswer, HttpCall, HttpHandler, text_answer
from ..cluster.serving.http_server import LONGEST_HEADER, HttpServer
from ..cluster.watch.reflector import Reflector
from ..control.queues.queue_metrics import refresh
from ..loop.turns import Latest
from ..metrics import Metrics
from ..page.page_server import PAGE
from ..quota.ledger.ledger_reader import LedgerReader

CONNECTIONS: Final = 64
"""That may be open on one of these ports at one time."""
METRICS: Final = AskedAccess("get", url="/metrics")
LONGEST_TOKEN: Final = 8192
"""Bytes of the header in which users' tokens come: those of some clouds have 4 KB."""
_REFUSED: Final = {
    HTTPStatus.UNAUTHORIZED: "send a bearer token",
    HTTPStatus.FORBIDDEN: f"{METRICS} is needed",
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
        self._latest = Latest(self._write, EVERY)

    async def read(self) -> bytes:
        """The text. Waits for the one before it, and for a second since then."""
        return await self._latest.read()

    async def _write(self) -> bytes:
        await refresh(self._ledger, self._metrics, leads=self._leads())
        for reflector in self._reflectors:
            self._metrics.reflector_lag.labels(reflector.kind).set(reflector.lag())
        return await asyncio.to_thread(generate_latest, self._metrics.registry)


class Probes:
    """Answers from the present state. The process sets `serving` and `draining`."""

    def __init__(
        self,
        metrics_page: MetricsPage,
        metrics: Metrics,
        reflectors: Sequence[Reflector[Any]],
        leads: Callable[[], bool],
        notes: Callable[[], Sequence[str]] = tuple,
        *,
        access: TokenAccess | None = None,
        page: HttpHandler | None = None,
    ) -> None:
        """`notes`: faults that people have to correct. Shown; they do not affect readiness.
        `access`: who may read the metrics; None: whoever reaches the port. `page`: answers what is
        below `/page/`; None: there is no page.
        """
        self._metrics_page = metrics_page
        self._refused = metrics.refused_request
        self._reflectors = reflectors
        self._leads = leads
        self._notes = notes
        self._access = access
        self._web_page = page
        self.serving = False
        self.draining = False

    def http(self, *, metrics: bool) -> HttpServer:
        """A server that does not listen yet. `metrics`: whether it has these, too."""
        return HttpServer(
            self.answer if metrics else self.probe,
            BodyLimits(0, 0),
            connections=CONNECTIONS,
            refused=self._refused,
            longest_header=LONGEST_TOKEN if metrics and self._web_page else LONGEST_HEADER,
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
        """The same, the metrics, and the page."""
        if self._web_page is not None and call.path.startswith(PAGE):
            return await self._web_page(call)
        if call.path != "/metrics" or call.method not in ("GET", "HEAD"):
            return await self.probe(call)
        if self._access is not None:
            found = await self._access.caller(call.headers.get("authorization", ""), METRICS)
            allowed = found.status is not HTTPStatus.OK or METRICS in found.may
            status = found.status if allowed else HTTPStatus.FORBIDDEN
            if status is not HTTPStatus.OK:
                return text_answer(status, _REFUSED[status])
        return HttpAnswer(HTTPStatus.OK, await self._metrics_page.read(), CONTENT_TYPE_LATEST)

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

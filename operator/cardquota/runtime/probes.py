"""The plain HTTP servers: `/healthz` and `/readyz`, and with `/metrics`. No secrets, no user text.

Probes have a port of their own: whoever reads metrics does not make the kubelet wait. Who may read
the metrics, if that is asked, the API server says, as to kube-rbac-proxy: a TokenReview of the
bearer token, then a SubjectAccessReview for `get` on the URL `/metrics`. The token crosses the
network in plain text, as the metrics do.
"""

import asyncio
import hashlib
import logging
from collections.abc import Callable, Sequence
from http import HTTPStatus
from typing import Any, Final

import msgspec
from prometheus_client import CONTENT_TYPE_LATEST, generate_latest

from ..cluster.api.api_error import ApiError, OutcomeUnknown
from ..cluster.api.client import Client
from ..cluster.serving.bounds import BodyLimits, HttpAnswer, HttpCall, text_answer
from ..cluster.serving.http_server import HttpServer
from ..cluster.watch.reflector import Reflector
from ..control.queues.queue_metrics import refresh
from ..metrics import Metrics
from ..quota.ledger.ledger_reader import LedgerReader

_LOG = logging.getLogger(__name__)
_TOKENS: Final = "/apis/authentication.k8s.io/v1/tokenreviews"
_ACCESS: Final = "/apis/authorization.k8s.io/v1/subjectaccessreviews"
_BEARER: Final = "Bearer "
REMEMBERED: Final = 60.0
"""Seconds for which an answer holds, whatever it was. Longer than between two scrapes: who was
let in need not stand in line with those who are not known."""
MOST: Final = 100
"""Answers that are remembered."""
AT_ONCE: Final = 4
"""Questions to the API server under way. Who comes then is to try again."""
_TIMEOUT: Final = 3.0
"""Seconds."""


class _TokenUser(msgspec.Struct):
    username: str = ""
    uid: str = ""
    groups: list[str] = []
    extra: dict[str, list[str]] = {}


class _ReviewStatus(msgspec.Struct):
    authenticated: bool = False
    allowed: bool = False
    user: _TokenUser = msgspec.field(default_factory=_TokenUser)


class _AccessReview(msgspec.Struct):
    status: _ReviewStatus = msgspec.field(default_factory=_ReviewStatus)


_DECODER: Final = msgspec.json.Decoder(_AccessReview)


class MetricsAccess:
    """Answers from memory, or asks. Tokens are not kept, only their digests."""

    def __init__(self, client: Client, clock: Callable[[], float]) -> None:
        """`clock`: seconds, monotonic."""
        self._client = client
        self._clock = clock
        self._known: dict[bytes, tuple[float, HTTPStatus]] = {}
        """By digest of the token: until when, and the answer. The oldest first."""
        self._asking = 0
        self._failed = False
        """Whether the last question had no answer, which is logged once."""

    def __len__(self) -> int:
        """Answers that are remembered."""
        return len(self._known)

    async def answer(self, authorization: str) -> HTTPStatus:
        """200, or why not: 401 nobody known, 403 he may not, 429 too many ask, 503 not known."""
        token = authorization.removeprefix(_BEARER).strip()
        if not authorization.startswith(_BEARER) or not token or not token.isascii():
            return HTTPStatus.UNAUTHORIZED
        digest = hashlib.sha256(token.encode()).digest()
        until, known = self._known.get(digest, (0.0, HTTPStatus.UNAUTHORIZED))
        if self._clock() < until:
            return known
        if self._asking >= AT_ONCE:
            return HTTPStatus.TOO_MANY_REQUESTS
        self._asking += 1
        try:
            found = await self._ask(token)
        except (ApiError, OutcomeUnknown, msgspec.DecodeError) as error:
            if not self._failed:
                _LOG.warning("who reads the metrics is not known: %s", error)
            self._failed = True
            return HTTPStatus.SERVICE_UNAVAILABLE
        finally:
            self._asking -= 1
        self._failed = False
        self._known.pop(digest, None)
        while len(self._known) >= MOST:
            del self._known[next(iter(self._known))]
        self._known[digest] = self._clock() + REMEMBERED, found
        return found

    async def _ask(self, token: str) -> HTTPStatus:
        who = await self._review(_TOKENS, {"token": token})
        if not who.authenticated:
            return HTTPStatus.UNAUTHORIZED
        user = who.user
        may = await self._review(
            _ACCESS,
            {
                "user": user.username,
                "uid": user.uid,
                "groups": user.groups,
                "extra": user.extra,
                "nonResourceAttributes": {"path": "/metrics", "verb": "get"},
            },
        )
        return HTTPStatus.OK if may.allowed else HTTPStatus.FORBIDDEN

    async def _review(self, path: str, spec: dict[str, object]) -> _ReviewStatus:
        return _DECODER.decode(
            await self._client.post(path, {"spec": spec}, timeout=_TIMEOUT)
        ).status


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

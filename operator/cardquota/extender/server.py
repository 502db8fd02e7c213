"""The HTTPS server of the scheduler extender: its verbs for kube-scheduler, and a look at cards.

Every call of a verb gets HTTP 200, whatever it holds: kube-scheduler reads the body of no other
answer. What went wrong stands in `Error`. Connections are kept, and every answer has its length.
"""

import logging
from http import HTTPStatus
from time import perf_counter
from typing import Final
from urllib.parse import unquote

from aiohttp import web

from ..cluster.serving.serve import requests_up_to
from ..metrics import Metrics
from .leader_call import PASSED_ON
from .verbs import SchedulerVerbs
from .wire import (
    WireError,
    error_answer,
    filter_answer,
    read_args,
    read_binding,
    read_preemption,
    scores_answer,
    victims_answer,
)

LARGEST_BODY: Final = 8 * 1024 * 1024
"""Bytes that are read. 5,000 names and a pod have 1.7 MB at most. Whole nodes have 12 KB each, so
from some 700 nodes on a scheduler has to send names."""
_DRAINED: Final = 256 * 1024 * 1024
"""Bytes that are taken in and dropped, so that the caller reads our answer. Beyond it the
connection is closed."""
VERBS: Final = "/scheduler/"
INSPECT: Final = "/inspect"
BROKEN: Final = "cardquota could not answer: this is a bug, see its log"

_LOG = logging.getLogger(__name__)


class ExtenderServer:
    """Routes calls to the verbs. Has no state of its own."""

    def __init__(self, verbs: SchedulerVerbs, metrics: Metrics) -> None:
        self._verbs = verbs
        self._seconds = metrics.extender_seconds
        self._leaving = False
        self._said = ""
        """Why a call of prioritize could not be answered, as the log has it."""
        self._routes = {
            "filter": self._filter,
            "prioritize": self._prioritize,
            "bind": self._bind,
            "preempt": self._preempt,
        }

    def http(self) -> web.Server:
        """The HTTP server, to be bound."""
        return web.Server(
            self.handle, request_factory=requests_up_to(LARGEST_BODY), access_log=None
        )

    def leave(self) -> None:
        """From now on every connection is closed after the next answer on it."""
        self._leaving = True

    async def handle(self, http: web.BaseRequest) -> web.StreamResponse:
        """Answer one HTTP request, whatever it is; raises nothing."""
        path = http.path
        verb = path.removeprefix(VERBS) if path.startswith(VERBS) else ""
        if verb in self._routes:
            response = await self._answer(verb, http)
        elif path == INSPECT or path.startswith(INSPECT + "/"):
            response = await self._inspect(http)
        else:
            there = ", ".join(VERBS + name for name in self._routes)
            response = _text(HTTPStatus.NOT_FOUND, f"nothing is here; there are {there}, {INSPECT}")
        if self._leaving:
            response.force_close()
        return response

    async def _answer(self, verb: str, http: web.BaseRequest) -> web.Response:
        if http.method != "POST":
            return _text(HTTPStatus.METHOD_NOT_ALLOWED, f"a call of {verb} is to be posted")
        began = perf_counter()
        closes = False
        try:
            answer = await self._routes[verb](await _body_of(http), http)
        except _TooLargeError as error:
            answer, closes = self._failed(verb, str(error)), error.closes
        except WireError as error:
            answer = self._failed(verb, f"the call of {verb} cannot be read: {error}")
        except Exception:  # noqa: BLE001
            _LOG.exception("a call of %s could not be answered", verb)
            answer = self._failed(verb, BROKEN)
        self._seconds.labels(verb).observe(perf_counter() - began)
        response = _json(answer)
        if closes:
            response.force_close()
        return response

    def _failed(self, verb: str, error: str) -> bytes:
        """kube-scheduler goes on without our scores if it cannot read them: so an empty list, and a
        line in the log when the error is another one than before.
        """
        if verb != "prioritize":
            return error_answer(error)
        if error != self._said:
            self._said = error
            _LOG.warning("%s", error)
        return b"[]"

    async def _filter(self, body: bytes, _: web.BaseRequest) -> bytes:
        args = read_args(body)
        return filter_answer(args, await self._verbs.filter(args))

    async def _prioritize(self, body: bytes, _: web.BaseRequest) -> bytes:
        args = read_args(body)
        return scores_answer(args.names, await self._verbs.prioritize(args))

    async def _bind(self, body: bytes, http: web.BaseRequest) -> bytes:
        passed_on = PASSED_ON in http.headers
        return error_answer(await self._verbs.bind(read_binding(body), passed_on=passed_on))

    async def _preempt(self, body: bytes, _: web.BaseRequest) -> bytes:
        return victims_answer(await self._verbs.preempt(read_preemption(body)))

    async def _inspect(self, http: web.BaseRequest) -> web.Response:
        if http.method not in ("GET", "HEAD"):
            return _text(HTTPStatus.METHOD_NOT_ALLOWED, "this is only to be read")
        name = unquote(http.path.removeprefix(INSPECT).strip("/"))
        verbs = self._verbs
        found = await verbs.inspect_node(name) if name else await verbs.inspect()
        if found is None:
            return _text(HTTPStatus.NOT_FOUND, "no node of this name is known")
        return _json(found)


class _TooLargeError(Exception):
    """The body is larger than what is read."""

    def __init__(self, size: str, *, closes: bool) -> None:
        super().__init__(_too_large(size))
        self.closes = closes
        """Whether some of it is not taken in, so that the connection cannot be kept."""


async def _body_of(http: web.BaseRequest) -> bytes:
    """The body. One that is too large is taken in without being kept, so that our answer is read.

    Raises _TooLargeError.
    """
    length = http.content_length or 0
    if length > LARGEST_BODY:
        left = _DRAINED
        while left > 0 and (some := await http.content.readany()):
            left -= len(some)
        raise _TooLargeError(str(length // 2**20), closes=left <= 0)
    try:
        payload = http.content
        return payload.read_nowait() if payload.is_eof() else await http.read()
    except web.HTTPRequestEntityTooLarge:
        # It has no length, so it was not known before.
        raise _TooLargeError("more", closes=True) from None


def _too_large(size: str) -> str:
    return (
        f"the body has {size} MiB, at most {LARGEST_BODY // 2**20} MiB are read: set "
        "nodeCacheCapable: true for this extender, so that only names of nodes are sent"
    )


def _json(body: bytes) -> web.Response:
    return web.Response(body=body, content_type="application/json")


def _text(code: HTTPStatus, text: str) -> web.Response:
    return web.Response(status=code, text=text + "\n")

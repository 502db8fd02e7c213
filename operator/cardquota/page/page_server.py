"""Answers what is below `/page/`: static files for everybody, data for whom it may be (F7, F8)."""

import asyncio
from collections.abc import Callable
from http import HTTPStatus
from importlib.resources import files
from typing import Final
from urllib.parse import parse_qsl

import msgspec
from msgspec.structs import replace

from ..api.reviews import DEFAULT_LIMIT
from ..cluster.api.token_access import TokenAccess
from ..cluster.serving.bounds import HttpAnswer, HttpCall, text_answer
from ..loop.timing import in_slices, now_text
from ..loop.turns import Latest, Turns, WaitedTooLongError
from ..quota.answers.answer_forms import QueueAnswer
from ..quota.answers.queue_answer import queue_answer
from ..quota.ledger.ledger_reader import LedgerReader
from ..quota.messages import answer_messages, gate_messages
from ..quota.objects.meta import Wire
from ..quota.reports.node_report import node_report
from ..quota.steps import Steps
from .overview import MOST_NODES, Overview, overview
from .sight import LIST_NODES, CallerSight, SightOf

PAGE: Final = "/page/"
EVERY: Final = 1.0
"""Seconds between two overviews, at least, for all who ask together."""
_PATIENCE: Final = 2.5
"""Seconds until the turn of a question about a queue."""
_LONGEST_QUERY: Final = 1024
"""Characters: a name has at most 253."""
_FILES: Final = {
    "": ("page.html", "text/html; charset=utf-8"),
    "page.css": ("page.css", "text/css; charset=utf-8"),
    "page.js": ("page.js", "text/javascript; charset=utf-8"),
    "icon.svg": ("icon.svg", "image/svg+xml"),
}
"""By what follows `/page/`: the file, and its type."""
_POLICY: Final = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; "
    "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
HEADERS: Final = (
    ("content-security-policy", _POLICY),
    ("x-content-type-options", "nosniff"),
    ("cache-control", "no-store"),
    ("referrer-policy", "no-referrer"),
)
"""Of every answer: nothing of others is loaded, whatever a name in it looks like."""


class _Seen(Wire):
    """An overview, and what of it is not shown."""

    user: str
    missing: tuple[str, ...]
    nodes: bool
    """Whether nodes may be read."""
    overview: msgspec.Raw


class _SeenQueue(Wire):
    """One queue, and whether names were left out."""

    names: bool
    queue: QueueAnswer


class PageServer:
    """Works on one overview, one list of nodes and one queue at a time, however many ask."""

    def __init__(
        self,
        ledger: LedgerReader,
        access: TokenAccess,
        known: Callable[[], bool],
        leader: Callable[[], str],
        clock: Callable[[], float],
    ) -> None:
        """`known`: whether the cluster was read, recently enough. `leader`: the term under which
        one leads, or empty. `clock`: seconds, monotonic.
        """
        self._ledger = ledger
        self._files = {path: _static(*file) for path, file in _FILES.items()}
        self._known = known
        self._leader = leader
        self._sight = SightOf(access, self._queues)
        self._overview = Latest(self._make_overview, EVERY)
        self._nodes = Latest(self._make_nodes, EVERY)
        self._turns = Turns(clock, _PATIENCE)

    async def answer(self, call: HttpCall) -> HttpAnswer:
        """Any request, with the headers that all answers have."""
        return (await self._answer(call))._replace(headers=HEADERS)

    async def _answer(self, call: HttpCall) -> HttpAnswer:
        if call.method not in ("GET", "HEAD"):
            return text_answer(HTTPStatus.METHOD_NOT_ALLOWED, "this is only to be read")
        what = call.path.removeprefix(PAGE)
        if what in self._files:
            return self._files[what]
        authorization = call.headers.get("authorization", "")
        match what:
            case "overview":
                return await self._all(authorization)
            case "nodes":
                return await self._all_nodes(authorization)
            case "queue":
                return await self._one(authorization, _named(call.query))
        return text_answer(HTTPStatus.NOT_FOUND, "nothing is here")

    async def _all(self, authorization: str) -> HttpAnswer:
        sight = await self._sight.whole(authorization)
        if refused := self._refused(sight):
            return refused
        found, text = await self._overview.read()
        if sight.queues is not None:
            seen = tuple(one for one in found.queues if one.name in sight.queues)
            own = replace(found, queues=seen, more_queues=0, cards=(), more_cards=0)
            text = msgspec.json.encode(own)
        raw = msgspec.Raw(text)
        seen_all = _Seen(user=sight.user, missing=sight.missing, nodes=sight.nodes, overview=raw)
        return _json(seen_all)

    async def _all_nodes(self, authorization: str) -> HttpAnswer:
        sight = await self._sight.whole(authorization)
        if refused := self._refused(sight):
            return refused
        if not sight.nodes:
            return text_answer(HTTPStatus.FORBIDDEN, f"you may not see this: it needs {LIST_NODES}")
        return HttpAnswer(HTTPStatus.OK, await self._nodes.read())

    async def _one(self, authorization: str, name: str) -> HttpAnswer:
        sight = await self._sight.of_queue(authorization, name)
        if refused := self._refused(sight):
            return refused
        if not name or self._turns.taken(sight.user):
            return self._no_answer(name)
        limit = DEFAULT_LIMIT if sight.names else 0
        steps = queue_answer(self._ledger, name, limit=limit, time=now_text())
        try:
            found = await self._turns.done(sight.user, steps)
        except WaitedTooLongError:
            return self._no_answer(name)
        if found is None:
            return text_answer(HTTPStatus.NOT_FOUND, answer_messages.no_such_queue(name))
        return _json(_SeenQueue(names=sight.names, queue=found))

    @staticmethod
    def _no_answer(name: str) -> HttpAnswer:
        if not name:
            return text_answer(HTTPStatus.BAD_REQUEST, "name a queue: queue?name=NAME")
        return text_answer(HTTPStatus.TOO_MANY_REQUESTS, answer_messages.too_many_questions())

    def _refused(self, sight: CallerSight) -> HttpAnswer | None:
        if sight.status is not HTTPStatus.OK:
            return text_answer(sight.status, sight.why)
        if not self._known():
            return text_answer(HTTPStatus.SERVICE_UNAVAILABLE, gate_messages.not_read_lately())
        return None

    def _queues(self) -> list[str]:
        return [one.name for one in self._ledger.accounts() if one.facts is not None]

    async def _make_overview(self) -> tuple[Overview, bytes]:
        steps: Steps[Overview] = overview(self._ledger, time=now_text(), leader=self._leader())
        found = await in_slices(steps)
        return found, await asyncio.to_thread(msgspec.json.encode, found)

    async def _make_nodes(self) -> bytes:
        return _json(await in_slices(node_report(self._ledger, MOST_NODES))).body


def _named(query: str) -> str:
    """The queue that a query names; empty if it names none, or says more."""
    found = parse_qsl(query[:_LONGEST_QUERY])
    return found[0][1] if len(found) == 1 and found[0][0] == "name" else ""


def _static(name: str, content_type: str) -> HttpAnswer:
    body = files(__package__).joinpath(name).read_bytes()
    return HttpAnswer(HTTPStatus.OK, body, content_type)


def _json(found: Wire) -> HttpAnswer:
    return HttpAnswer(HTTPStatus.OK, msgspec.json.encode(found))

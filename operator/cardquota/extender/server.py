"""The scheduler extender: its verbs for kube-scheduler, a look at cards, and the HTTPS server.

Every replica answers but for bind. Asking changes nothing. kube-scheduler's own view may be some
milliseconds ahead of ours: so what we have never heard of is waited for, a moment.

Every call of a verb gets HTTP 200, whatever it holds: kube-scheduler reads the body of no other
answer. What went wrong stands in `Error`. Connections are kept, and every answer has its length.
"""

import logging
from collections.abc import Callable, Sequence
from http import HTTPStatus
from itertools import chain
from time import perf_counter
from typing import Final
from urllib.parse import unquote

import msgspec

from ..cluster.serving.bounds import (
    BUG,
    BodyLimits,
    BodyTooLargeError,
    BusyError,
    HttpAnswer,
    HttpCall,
    text_answer,
)
from ..cluster.serving.http_server import HttpServer
from ..cluster.watch.delivery import ChangeNotifier
from ..loop.timing import TimeSlice, in_slices
from ..metrics import Metrics
from ..quota.ledger.ledger_reader import LedgerReader
from ..quota.pods.pod_facts import pod_facts
from ..quota.reports.memory_report import memory_report, node_row
from .leader_client import PASSED_ON, LeaderCall
from .node_filter import NodeFit, fit_nodes, victims_by_node
from .node_ranking import NodeRanking
from .waker import Waker
from .wire import (
    ExtenderArgs,
    MetaVictims,
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

_LOG = logging.getLogger(__name__)


_JSON: Final = msgspec.json.Encoder()
_UNSEEN: Final = 0.1
"""Seconds that a filter waits for nodes that our watch has not told of."""
NOT_SYNCED: Final = "cardquota has not read the cluster yet: try again"


class ExtenderServer:
    """Routes calls to the verbs, which answer from the ledger's present state."""

    def __init__(
        self,
        ledger: LedgerReader,
        notifier: ChangeNotifier,
        binds: LeaderCall,
        synced: Callable[[], bool],
        metrics: Metrics,
        *,
        waker: Waker | None = None,
        spread: bool = False,
        unseen: float = _UNSEEN,
    ) -> None:
        """`waker`: is told who fits nowhere. `spread`: prefer empty nodes to full ones. `unseen`:
        seconds.
        """
        self._waker = waker
        self._ledger = ledger
        self._notifier = notifier
        self._binds = binds
        self._synced = synced
        self._ranking = NodeRanking(ledger, spread=spread)
        self._unseen = unseen
        self._seconds = metrics.extender_seconds
        self._said = ""
        """Why a call of prioritize could not be answered, as the log has it."""
        self._routes = {
            "filter": self._filter,
            "prioritize": self._prioritize,
            "bind": self._bind,
            "preempt": self._preempt,
        }
        self.http: Final = HttpServer(
            self.answer, BodyLimits(LARGEST_BODY, _DRAINED), refused=metrics.refused_request
        )
        """Not yet listening."""

    async def answer(self, call: HttpCall) -> HttpAnswer:
        """Answer one HTTP request, whatever it is; raises only what reading the body raises."""
        path = call.path
        verb = path.removeprefix(VERBS) if path.startswith(VERBS) else ""
        if verb in self._routes:
            return await self._answer(verb, call)
        if path == INSPECT or path.startswith(INSPECT + "/"):
            return await self._inspect(call)
        there = ", ".join(VERBS + name for name in self._routes)
        return text_answer(HTTPStatus.NOT_FOUND, f"nothing is here; there are {there}, {INSPECT}")

    async def _answer(self, verb: str, call: HttpCall) -> HttpAnswer:
        if call.method != "POST":
            return text_answer(HTTPStatus.METHOD_NOT_ALLOWED, f"a call of {verb} is to be posted")
        began = perf_counter()
        try:
            answer = await self._routes[verb](await call.body(), call)
        except (BusyError, ConnectionError):
            raise  # the call has not come
        except BodyTooLargeError as error:
            answer = self._failed(verb, _too_large(error.size))
        except WireError as error:
            answer = self._failed(verb, f"the call of {verb} cannot be read: {error}")
        except Exception:  # noqa: BLE001
            _LOG.exception("a call of %s could not be answered", verb)
            answer = self._failed(verb, BUG)
        self._seconds.labels(verb).observe(perf_counter() - began)
        return HttpAnswer(HTTPStatus.OK, answer)

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

    async def filter(self, args: ExtenderArgs) -> NodeFit:
        """Which nodes the pod may go to."""
        if not self._synced():
            return NodeFit([], {}, {}, error=NOT_SYNCED)
        facts, names = pod_facts(args.pod), args.names
        fit = fit_nodes(self._ledger, facts, names)
        if fit.unknown:
            await self._notifier.wait_for(lambda: not self._unknown(names), self._unseen)
            fit = fit_nodes(self._ledger, facts, names)
        if self._waker is not None:
            if fit.names:
                self._waker.fits(facts.uid)
            else:
                self._waker.refused(facts, chain(fit.failed, fit.unresolvable))
        return fit

    def _unknown(self, names: Sequence[str]) -> bool:
        nodes = self._ledger.card_memory.nodes
        return not all(name in nodes for name in names)

    async def _filter(self, body: bytes, _: HttpCall) -> bytes:
        args = read_args(body)
        return filter_answer(args, await self.filter(args))

    async def _prioritize(self, body: bytes, _: HttpCall) -> bytes:
        args = read_args(body)
        return scores_answer(self._ranking.rank(pod_facts(args.pod), args.names))

    async def _bind(self, body: bytes, call: HttpCall) -> bytes:
        passed_on = PASSED_ON.lower() in call.headers
        return error_answer(await self._binds.bind(read_binding(body), passed_on=passed_on))

    async def _preempt(self, body: bytes, _: HttpCall) -> bytes:
        """Nodes where none of the victims free one card are left out."""
        args = read_preemption(body)
        proposed = {name: victims.uids for name, victims in args.victims.items()}
        chosen = victims_by_node(self._ledger, pod_facts(args.pod), proposed)
        return victims_answer(
            {name: MetaVictims(u, args.victims[name].violations) for name, u in chosen.items()}
        )

    async def _inspect(self, call: HttpCall) -> HttpAnswer:
        if call.method not in ("GET", "HEAD"):
            return text_answer(HTTPStatus.METHOD_NOT_ALLOWED, "this is only to be read")
        name = unquote(call.path.removeprefix(INSPECT).strip("/"))
        if not name:
            return HttpAnswer(HTTPStatus.OK, await self._whole_report())
        row = node_row(self._ledger, name)
        if row is None:
            return text_answer(HTTPStatus.NOT_FOUND, "no node of this name is known")
        return HttpAnswer(HTTPStatus.OK, _JSON.encode(row))

    async def _whole_report(self) -> bytes:
        """Card memory of the whole cluster, as JSON. Gives way: a large cluster has many cards."""
        report, rows = await in_slices(memory_report(self._ledger)), list[bytes]()
        slice_ = TimeSlice()
        for row in report.nodes:
            rows.append(_JSON.encode(row))
            await slice_.give_way()
        rest = _JSON.encode(
            {"pending": report.pending, "totals": report.totals, "limited": report.limited}
        )
        return b'{"nodes":[' + b",".join(rows) + b"]," + rest[1:]


def _too_large(size: int | None) -> str:
    found = "more" if size is None else f"{size // 2**20} MiB"
    return (
        f"the body has {found}, at most {LARGEST_BODY // 2**20} MiB are read: set "
        "nodeCacheCapable: true for this extender, so that only names of nodes are sent"
    )

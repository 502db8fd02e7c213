"""One replica of the product in this process, without a cluster.

Everything in it is the product's own; watches are told by hand, and whatever it writes is taken at
once.
"""

import asyncio
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from typing import Any, cast

from cardquota.cluster.events import EventRecorder
from cardquota.cluster.watch import AT_ONCE, ChangeNotifier, Delivery, Reflector, watched_kinds
from cardquota.control import LeaderWork, term_writers
from cardquota.loop import Later, in_loop_later
from cardquota.metrics import Metrics
from cardquota.quota.cards import DEFAULT_TABLE
from cardquota.quota.ledger import Ledger, LedgerSettings
from cardquota.quota.reclaim import ReclaimNotes
from cardquota.settings import Settings
from cardquota_webhooks import (
    AdmissionServer,
    CardlessClaims,
    PodGroupReviews,
    PodReviews,
    QuestionReviews,
    QueueReviews,
    ResizeReviews,
    Reviewer,
    ScaleReviews,
    ScaleTargets,
    VisibilityWait,
    VolcanoJobReviews,
    WorkloadReviews,
)

from .direct_review import ask
from .open_fence import OpenFence

TERM = "replica_1"


class TakesAll:
    """A client that takes whatever is written."""

    def __init__(self) -> None:
        self.revision = 0
        """Of what was written last."""
        self.writes = 0

    async def patch(self, *_: object, **__: object) -> bytes:
        return self._taken()

    async def post(self, *_: object, **__: object) -> bytes:
        return self._taken()

    async def get(self, *_: object, **__: object) -> bytes:
        return self._taken()

    def _taken(self) -> bytes:
        self.writes += 1
        self.revision += 1
        return b'{"metadata":{"resourceVersion":"%d"},"spec":{}}' % self.revision


class Replica:
    """To be made in the loop it is to run in, and ended there."""

    def __init__(
        self,
        *,
        default_queue: str = "",
        writes: TakesAll | None = None,
        later: Later = in_loop_later,
    ) -> None:
        """`writes`: who takes what is written. `later`: ends the time of reservations."""
        self.ledger = Ledger(
            DEFAULT_TABLE, LedgerSettings(default_queue=default_queue), at_once=AT_ONCE
        )
        self.notifier, self.metrics = ChangeNotifier(), Metrics()
        self.settings = Settings()
        self.sinks = {w.kind: w for w in watched_kinds(self.ledger, self.notifier)}
        self.deliveries: dict[str, Delivery[Any]] = {
            kind: w.delivery() for kind, w in self.sinks.items()
        }
        self.writes = writes or TakesAll()
        self._client = cast("Any", self.writes)
        self.events = EventRecorder(self._client, instance="replica")
        self._loop = asyncio.get_running_loop()
        self.server = self._admission()
        self.leadership = LeaderWork(
            self.ledger,
            term_writers(self._client, lambda: 60.0, OpenFence(), self.settings),
            self.events,
            self.metrics,
            self.notifier,
            self.settings,
            self._loop.time,
            later=later,
        )
        self._writers = self._loop.create_task(self.events.run())
        self._term: asyncio.Task[None] | None = None

    async def review(self, path: str, body: bytes) -> tuple[int, bytes]:
        """Status and text of an answer."""
        return await ask(self.server, path, body)

    def reflector(self, kind: str, chunks: Iterable[bytes] = ()) -> Reflector[Any]:
        """One that knows what exists of its kind; its watch brings these chunks."""
        watch = self.sinks[kind]
        client: Any = _OneStream(chunks)
        return Reflector[Any](client, path=watch.path, delivery=self.deliveries[kind])

    def lead(self, posted: Any = None) -> None:
        """A term begins: from now on it decides."""
        self._term = self._loop.create_task(self.leadership.run(TERM, posted or _Posted()))

    def failed(self) -> BaseException | None:
        """What ended the term, if anything did."""
        if self._term is None or not self._term.done() or self._term.cancelled():
            return None
        return self._term.exception()

    async def follow(self) -> None:
        """The term is over."""
        term, self._term = self._term, None
        if term is not None:
            term.cancel()
            await asyncio.gather(term, return_exceptions=True)

    async def end(self) -> None:
        """Nothing of it runs any more."""
        await self.follow()
        self._writers.cancel()
        await asyncio.gather(self._writers, return_exceptions=True)

    def _admission(self) -> AdmissionServer:
        claims = CardlessClaims(self.ledger, self.settings, _no_claim)
        visibility = VisibilityWait(
            self.ledger, self.settings, self.notifier, _no_queue, longest=0.0
        )
        ledger, settings, refused = self.ledger, self.settings, self.metrics.refused_writes
        known, wall_clock, clock = (lambda: True), (lambda: 0.0), self._loop.time
        targets = ScaleTargets(ledger, _no_pod)
        reviewers: list[Reviewer] = [
            PodReviews(ledger, settings, visibility, claims, known),
            ResizeReviews(ledger, known),
            QueueReviews(ledger),
            PodGroupReviews(ledger, settings, visibility, known),
            WorkloadReviews(ledger, settings, visibility, claims),
            ScaleReviews(ledger, settings, visibility, targets, lambda _, __, ___: None, known),
            VolcanoJobReviews(ledger, visibility, claims, known),
            QuestionReviews(ledger, settings, known, wall_clock, clock, refused, ReclaimNotes()),
        ]
        return AdmissionServer(reviewers, self.metrics, audit=False)


class _Posted:
    """Keeps what is reported of each queue, the latest."""

    def __init__(self) -> None:
        self._reports: dict[str, object] = {}
        self.shows_conditions = True

    def start(self, moved: object) -> None: ...

    def post(self, queue: str, report: object) -> None:
        self._reports[queue] = report

    async def stop(self) -> None: ...


class _OneStream:
    """A client whose watch brings what it is given, and ends."""

    def __init__(self, chunks: Iterable[bytes]) -> None:
        self._chunks = chunks
        self.content = self

    @asynccontextmanager
    async def watch(self, *_: object, **__: object) -> AsyncIterator["_OneStream"]:
        yield self

    async def iter_any(self) -> AsyncIterator[bytes]:
        for chunk in self._chunks:
            yield chunk


async def _no_pod(_: str, __: str) -> None: ...


async def _no_claim(_: str, __: str, ___: str) -> None: ...


async def _no_queue(_: str) -> bool | None:
    """All queues are known."""
    return False

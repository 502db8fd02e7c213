"""`cardquota run`: assembles all parts and shuts them down in order.

Start: probes, certificate, watches. When all kinds are synced, the webhook serves and the election
begins. End (SIGTERM, SIGINT): become not ready, decide no more, give the Lease up, answer what is
in flight, exit 0.
"""

import asyncio
import logging
import os
import signal
import socket
import time
from collections.abc import Coroutine
from functools import partial
from typing import Any, Final

from cardquota_webhooks.pod_groups import PodGroupReviews
from cardquota_webhooks.pods import CardlessClaims, PodReviews, ResizeReviews, VisibilityWait
from cardquota_webhooks.questions import QuestionReviews
from cardquota_webhooks.queues import QueueReviews
from cardquota_webhooks.review import Reviewer
from cardquota_webhooks.scales import ScaleReviews, ScaleTargets
from cardquota_webhooks.server import AdmissionServer
from cardquota_webhooks.volcano_jobs import RefusedWriteReviews, VolcanoJobReviews
from cardquota_webhooks.workloads import WorkloadReviews

from ..cluster.api.access import AccessError, find_access
from ..cluster.api.client import Client
from ..cluster.api.token_access import TokenAccess
from ..cluster.election.elector import Elector
from ..cluster.events import EventRecorder
from ..cluster.serving.http_server import HttpServer
from ..cluster.watch.delivery import ChangeNotifier
from ..cluster.watch.feed import AT_ONCE, LeftOutReads, ledger_settings, watched_kinds
from ..cluster.watch.listing import ClaimLookup, PodLookup, QueueLookup
from ..cluster.watch.optional_reflector import OptionalReflector
from ..cluster.watch.reflector import Reflector
from ..control.audit_record import AuditRecord
from ..control.fence import Fence
from ..control.installation import InstallationCheck
from ..control.leader_work import (
    Leadership,
    LeaderWork,
    TermPart,
    eviction_writer,
    term_writers,
)
from ..control.queues.queue_metrics import measure_drift
from ..control.queues.queue_operator import QueueOperator
from ..control.reclaim import Reclaimer
from ..control.workload_waker import WorkloadWaker
from ..loop.loop_watch import LoopWatch, TimedSelector
from ..loop.timing import ended
from ..metrics import Metrics
from ..page.page_server import PageServer
from ..quota.ledger.ledger import Ledger
from ..quota.reclaim.reclaim_notes import ReclaimNotes
from ..quota.vocabulary import ENQUEUE_ADDRESS, EXTENDER_ADDRESS, LEASE, SCALE_CUT, ReclaimMode
from ..settings import InstallationMode, Settings
from .admission_endpoint import AdmissionEndpoint
from .enqueue_parts import EnqueueParts
from .extender_endpoint import ExtenderParts
from .kubernetes_support import reclaims_alone, supported
from .probes import MetricsPage, Probes
from .process import GRACE, collect_young, configure, spare_what_stays

_LOG = logging.getLogger(__name__)
_QUIET: Final = 1.0
"""Seconds without a review, after which we assume that no more are sent to a replica not ready."""
_LEAVE_SERVICE: Final = 4.0
"""Seconds after which the server is closed even if reviews still arrive."""
_FIRST_RECOUNT: Final = 10.0
"""Seconds until the first recount: becoming ready comes first."""
RECOUNT: Final = 300.0
"""Seconds between two recounts."""
_SEE_UNPLACED: Final = 2.0
"""Seconds between two looks at which pods are without a node."""
_UNUSABLE: Final = 2
"""Exit code, also of a configuration that cannot be used: another start would not help."""


def run(settings: Settings) -> int:
    """Run the operator until it is stopped. Returns the exit code."""
    configure(settings.log)
    for hazard in settings.hazards:
        _LOG.warning("configuration: %s", hazard)
    selector = TimedSelector()
    try:
        with asyncio.Runner(loop_factory=lambda: asyncio.SelectorEventLoop(selector)) as runner:
            return runner.run(run_in_loop(settings, selector))
    except AccessError as error:
        _LOG.error("%s", error)
        return _UNUSABLE


async def run_in_loop(settings: Settings, selector: TimedSelector) -> int:
    """The same in the loop of this selector. Raises AccessError where no cluster is found."""
    access = await find_access()
    # Lease and Term have connections of their own: a renewal that waits for a connection taken by
    # other requests could lose the leadership.
    client, lease_client = Client(access), Client(access)
    try:
        return await Operator(settings, client, lease_client, selector).main()
    finally:
        await client.close()
        await lease_client.close()


class Operator:
    """One replica: all in one event loop, except Kopf."""

    def __init__(
        self, settings: Settings, client: Client, lease_client: Client, selector: TimedSelector
    ) -> None:
        """`lease_client` is used only for Lease and Term. The caller closes both clients.

        `selector`: the selector of the loop that it will run in.
        """
        self._settings = settings
        self._client = client
        self._metrics = Metrics()
        self._selector = selector
        self._notifier = ChangeNotifier()
        self._ledger = Ledger(
            settings.vendor_table,
            ledger_settings(settings),
            at_once=AT_ONCE,
        )
        identity = settings.leader_election.identity or socket.gethostname()
        self._events = EventRecorder(
            client, instance=identity, renew_after=settings.events.renew_after
        )
        kinds = watched_kinds(self._ledger, self._notifier, broken_cards=settings.extender.enabled)
        self._left_out = LeftOutReads(self._ledger, client, kinds)
        self._needed = [
            Reflector(client, path=w.path, delivery=w.delivery()) for w in kinds if w.needed
        ]
        """Watches that decisions depend on."""
        self._reflectors: list[Reflector[Any]] = [
            *self._needed,
            *(
                OptionalReflector(client, paths=(w.path, *w.older), delivery=w.delivery())
                for w in kinds
                if not w.needed
            ),
        ]
        for one in self._reflectors:
            unreadable = partial(getattr, one, "unreadable")
            self._metrics.undecodable.labels(one.kind).set_function(unreadable)
        lease = settings.leader_election
        self._elector = Elector(
            lease_client,
            namespace=settings.namespace,
            name=LEASE,
            identity=identity,
            duration=lease.duration,
            renew_deadline=lease.renew_deadline,
            retry_period=lease.retry_period,
            addresses=_addresses(settings),
        )
        self._fence = Fence(lease_client, self._elector, self._events, self._metrics, settings)
        self._extender: ExtenderParts | None = None
        if settings.extender.enabled:
            self._extender = ExtenderParts(
                settings,
                client,
                self._ledger,
                self._notifier,
                self._elector,
                self._fence,
                self._metrics,
                self._synced,
                grace=GRACE,
            )
        waker = WorkloadWaker(
            self._ledger, self._notifier, client, time.monotonic, self._metrics.woken.inc
        )
        self._endpoint = AdmissionEndpoint(settings, client, grace=GRACE)
        self._enqueue: EnqueueParts | None = None
        if settings.enqueues_for_volcano:
            self._enqueue = EnqueueParts(
                settings,
                self._ledger,
                self._notifier,
                self._elector,
                self._metrics,
                self._synced,
                lambda group, verdict: self._work.tell_group(group, verdict),
                lambda: self._endpoint.bundle,
                client.get,
            )
        parts: list[TermPart] = [waker]
        if self._extender is not None:
            parts.append(self._extender.binder)
        if self._enqueue is not None:
            parts.append(self._enqueue.votes)
        of_term = client, self._elector.time_left, self._fence, settings
        self._reclaim_notes = ReclaimNotes()
        if settings.reclaim.mode is not ReclaimMode.OFF:
            parts.append(
                Reclaimer(
                    self._ledger,
                    partial(eviction_writer, *of_term),
                    self._events,
                    self._metrics,
                    settings,
                    self._reclaim_notes,
                    unsure=self._unsure,
                    changed=self._notifier.notify,
                    clock=time.monotonic,
                )
            )
        self._work = LeaderWork(
            self._ledger,
            term_writers(*of_term),
            self._events,
            self._metrics,
            self._notifier,
            settings,
            time.monotonic,
            parts=parts,
        )
        self._leadership = Leadership(
            self._work,
            client,
            self._elector,
            self._fence,
            self._reflectors,
            lease,
            partial(
                QueueOperator,
                standalone=settings.scheduler == "standalone",
                unwritten=self._metrics.unwritten_queues.set,
            ),
            self._part_failed,
        )
        self._installation = InstallationCheck(
            settings, client, self._metrics, self._events, self._leads
        )
        # One for both: what is known of a token holds for both.
        asks, access = settings.metrics.authentication, TokenAccess(client, time.monotonic)
        page = None
        if settings.page.enabled:
            page = PageServer(
                self._ledger, access, self._known, lambda: self._elector.leader, time.monotonic
            ).answer
        self._probes = Probes(
            MetricsPage(self._ledger, self._metrics, self._reflectors, self._leads),
            self._metrics,
            self._reflectors,
            self._leads,
            self._to_put_right,
            access=access if asks else None,
            page=page,
        )
        self._audit = AuditRecord(client, settings.namespace, self._metrics, time.time)
        self._admission = self._make_admission()
        self._stop = asyncio.Event()
        self._failed = False
        self._drifts = False
        """Whether the last recount had other totals than the ledger."""
        self._tasks: list[asyncio.Task[None]] = []

    async def main(self) -> int:
        """Run. Returns 0 after an orderly exit, 1 if a part failed, 2 with an API server that the
        product does not run on, or beside a scheduler that ends pods too.
        """
        loop = asyncio.get_running_loop()
        for number in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(number, self._stop.set)
        plain = await self._listen_plain()
        if not plain:
            return 1
        for may_run in (supported, reclaims_alone):
            if not await may_run(self._client, self._settings, self._stop):
                return _UNUSABLE
        for reflector in self._reflectors:
            self._start(reflector.run())
        self._start(self._events.run())
        endpoint = self._start(self._serve())
        extender = self._start(self._serve_extender()) if self._extender is not None else None
        await self._stop.wait()
        await self._shut_down(endpoint, extender)
        for server in plain:
            await server.stop(GRACE)
        return 1 if self._failed else 0

    async def _listen_plain(self) -> list[HttpServer]:
        """The servers of metrics and probes, listening; none if a port is in use."""
        metrics, probes = self._settings.metrics, self._settings.probes
        wanted = [(metrics.host, metrics.port, "metrics")]
        if probes.port is not None:
            wanted.append((probes.host, probes.port, "probes"))
        found = []
        for host, port, name in wanted:
            server = self._probes.http(metrics=name == "metrics")
            try:
                await server.start(host, port, None)
            except OSError as error:
                _LOG.error("%s: cannot listen: %s", name, error)
                return []
            found.append(server)
        return found

    async def _shut_down(
        self, endpoint: asyncio.Task[None], extender: asyncio.Task[None] | None
    ) -> None:
        self._probes.draining = True
        self._admission.leave()
        if self._extender is not None:
            self._extender.server.http.leave()
        if self._enqueue is not None:
            self._enqueue.leave()
        _LOG.info("stopping: the requests in flight are still answered")
        stopped = await self._leadership.stop(GRACE)
        self._cancel(endpoint, extender)
        if stopped.settled:
            await self._elector.release(stopped.handover)
        else:
            _LOG.warning("some patches got no answer: the Lease is kept until it expires")
        if self._probes.serving:
            await self._admission.quiet(_QUIET, at_most=_LEAVE_SERVICE)
        await ended(self._tasks)

    def _cancel(self, *but: asyncio.Task[None] | None) -> None:
        for task in self._tasks:
            if task not in but:
                task.cancel()

    async def _serve(self) -> None:
        """The admission endpoint, and everything that begins once it listens."""
        http = self._admission.http_for(self._endpoint.knows)
        enqueue = self._enqueue
        try:
            await self._endpoint.run(http, enqueue.start if enqueue else None, self._opened)
        finally:
            if enqueue is not None:
                await enqueue.stop()

    async def _serve_extender(self) -> None:
        """The extender's endpoint. It answers only from a cluster that was read."""
        assert self._extender is not None  # noqa: S101 - for mypy

        async def synced() -> None:
            for reflector in self._reflectors:
                await reflector.wait_synced()

        await self._extender.run(synced)

    async def _opened(self) -> None:
        for reflector in self._reflectors:
            await reflector.wait_synced()
        self._ledger.fix_queues()
        spare_what_stays()
        self._start(collect_young())
        # Until here nothing waits for us, and reading a large cluster takes its time.
        LoopWatch(self._selector, self._metrics)
        self._probes.serving = True
        _LOG.info("synced and serving")
        self._start(self._elector.run(self._leadership.acquired, self._leadership.lost))
        self._start(self._recount())
        self._start(self._left_out.run())
        self._start(self._installation.run())
        self._start(self._audit.run())
        if self._settings.reclaim.mode is not ReclaimMode.OFF:
            self._start(self._see_unplaced())

    def _synced(self) -> bool:
        return all(reflector.synced for reflector in self._reflectors)

    def _known(self) -> bool:
        """Whether the cluster was read, recently enough for an answer."""
        return self._synced() and not self._late()

    def _late(self) -> bool:
        return any(reflector.late for reflector in self._needed)

    def _unsure(self) -> bool:
        """Whether what is known may be wrong or old, or what is installed is not as rendered: then
        quotas may not hold, or nothing keep a former leader from evicting. Nobody ends for it (L5).
        """
        installation = self._installation
        in_doubt = self._drifts or not self._known() or bool(self._fence.problem)
        return in_doubt or not installation.checked or bool(installation.faults)

    def _leads(self) -> bool:
        return self._elector.term is not None

    def _to_put_right(self) -> list[str]:
        certificates = [self._endpoint.problem] if self._endpoint.problem else []
        if self._extender is not None and self._extender.problem:
            certificates.append(self._extender.problem)
        return [
            *([self._fence.problem] if self._fence.problem else []),
            *certificates,
            *self._installation.faults,
        ]

    def _make_admission(self) -> AdmissionServer:
        synced, late, known = self._synced, self._late, self._known

        exists = QueueLookup(self._client).exists
        visibility = VisibilityWait(self._ledger, self._settings, self._notifier, exists)
        claims = CardlessClaims(self._ledger, self._settings, ClaimLookup(self._client).classes)
        ledger, settings, refused = self._ledger, self._settings, self._metrics.refused_writes
        beside_volcano = settings.scheduler == "volcano"
        reviewers: list[Reviewer] = [
            PodReviews(
                ledger, settings, visibility, claims, synced, late=late, audited=self._audit.note
            ),
            ResizeReviews(ledger, known),
            QueueReviews(ledger, beside_volcano=beside_volcano, known=known),
            PodGroupReviews(ledger, settings, visibility, known),
            WorkloadReviews(ledger, settings, visibility, claims),
            ScaleReviews(
                ledger,
                settings,
                visibility,
                ScaleTargets(ledger, PodLookup(self._client).one),
                lambda about, text, topic: self._events.record(
                    about, type="Warning", reason=SCALE_CUT, message=text, topic=topic
                ),
                lambda: synced() and not any(one.late for one in self._reflectors),
            ),
            RefusedWriteReviews(refused),
            QuestionReviews(
                ledger, settings, known, time.time, time.monotonic, refused, self._reclaim_notes
            ),
        ]
        if beside_volcano:
            reviewers.append(VolcanoJobReviews(ledger, visibility, claims, known))
        audit = settings.mode is InstallationMode.AUDIT
        return AdmissionServer(reviewers, self._metrics, audit=audit)

    async def _see_unplaced(self) -> None:
        """On every replica: each of them answers questions."""
        while True:
            self._reclaim_notes.look(self._ledger.unplaced, time.monotonic())
            await asyncio.sleep(_SEE_UNPLACED)

    async def _recount(self) -> None:
        await asyncio.sleep(_FIRST_RECOUNT)
        while True:
            self._drifts = await measure_drift(self._ledger, self._metrics) > 0
            await asyncio.sleep(RECOUNT)

    def _start(self, work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.append(task)
        task.add_done_callback(self._ended)
        return task

    def _ended(self, task: asyncio.Task[None]) -> None:
        """A part has ended, which none does by itself."""
        if not task.cancelled():
            self._part_failed(task.exception())

    def _part_failed(self, error: BaseException | None) -> None:
        """Stop the process, to be restarted as a whole."""
        if isinstance(error, OSError):
            _LOG.error("stopping: %s", error)
        else:
            _LOG.error("a part of the operator ended; stopping", exc_info=error)
        self._failed = True
        self._stop.set()


def _addresses(settings: Settings) -> dict[str, str]:
    """By annotation of the Lease: host and port at which the other replicas reach us."""
    extender, enqueue = settings.extender, settings.volcano.enqueue
    found = {}
    if extender.enabled:
        found[EXTENDER_ADDRESS] = extender.advertise or _address(extender.host, extender.port)
    if settings.enqueues_for_volcano:
        found[ENQUEUE_ADDRESS] = enqueue.advertise or _address(enqueue.host, enqueue.port)
    return found


def _address(host: str, port: int) -> str:
    host = os.environ.get("POD_IP") or host
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"

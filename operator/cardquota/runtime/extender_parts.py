"""The parts of the scheduler extender, put together."""

import time
from collections.abc import Callable, Coroutine
from typing import Any, Final

from ..cluster.api.client import Client
from ..cluster.election.elector import Elector
from ..cluster.watch.change_notifier import ChangeNotifier
from ..cluster.writes.fenced_writer import FencedWriter, TermGuard
from ..extender.binder import Binder
from ..extender.leader_call import LeaderCall
from ..extender.leader_client import LeaderClient
from ..extender.server import ExtenderServer
from ..extender.verbs import SchedulerVerbs
from ..extender.waker import Waker
from ..metrics import Metrics
from ..quota.ledger.ledger import Ledger
from ..settings import Packing, Settings
from .extender_endpoint import ExtenderEndpoint, extender_names

_MARGIN: Final = 0.5
"""Seconds by which we answer before kube-scheduler gives up."""


class ExtenderParts:
    """Filter, prioritize and preempt on every replica; bind on the leader."""

    def __init__(
        self,
        settings: Settings,
        client: Client,
        ledger: Ledger,
        notifier: ChangeNotifier,
        elector: Elector,
        guard: TermGuard,
        metrics: Metrics,
        synced: Callable[[], bool],
        *,
        grace: float,
    ) -> None:
        """`guard`: of the Bindings. `synced`: whether the cluster was read. `grace`: seconds for
        calls in flight at exit.
        """
        extender, release = settings.extender, settings.release
        spread = extender.packing is Packing.SPREAD

        def writer() -> FencedWriter:
            return FencedWriter(
                client,
                elector.time_left,
                timeout=release.patch_timeout,
                at_a_time=release.in_flight,
                guard=guard,
            )

        within = extender.timeout_seconds - _MARGIN
        self.binder: Final = Binder(
            ledger, notifier, writer, answer_within=within - _MARGIN / 2, spread=spread
        )
        self._endpoint = ExtenderEndpoint(settings, client, grace=grace)
        leader = LeaderClient(
            elector.leader_address,
            lambda: self._endpoint.client_tls,
            server_name=extender_names(settings)[0],
            timeout=within,
        )
        self._call = LeaderCall(self.binder, leader)
        self._waker = Waker(ledger, notifier, client, time.monotonic)
        verbs = SchedulerVerbs(
            ledger, notifier, self._call, synced, waker=self._waker, spread=spread
        )
        self.server: Final = ExtenderServer(verbs, metrics)

    @property
    def problem(self) -> str:
        """In words for people: why certificates are not in order; empty if they are."""
        return self._endpoint.problem

    async def run(self, opened: Callable[[], Coroutine[Any, Any, None]]) -> None:
        """Serve until cancelled, once `opened` has returned. Errors: OSError, those of `opened`."""
        try:
            await self._endpoint.run(self.server.http, opened)
        finally:
            self._waker.close()
            await self._call.close()

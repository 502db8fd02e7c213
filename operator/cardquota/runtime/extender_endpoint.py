"""The endpoint for kube-scheduler: an HTTPS server, its certificate, and who may call it.

Two Secrets. The one holds our certificate, and the CA by which a scheduler knows us. The other
holds the certificate that a scheduler shows, which we show too when one replica calls another, and
the CA by which we know it. Both are read again and again, and followed without closing the server.
Only if a CA of the callers is gone (the Secret was deleted, say), all connections are closed: then
the certificates that it had signed are good for nothing any more.

A scheduler reads our CA once, when it starts, and its own certificate again and again. So a
certificate is renewed under its CA; where that is replaced, a scheduler has to be started anew.
"""

import asyncio
import logging
import ssl
import time
from collections.abc import Callable, Coroutine
from functools import partial
from typing import Any, Final

from ..cluster.api.api_error import ApiError, OutcomeUnknown
from ..cluster.api.client import Client
from ..cluster.certificates.certificate_store import CertificateSource, Holding
from ..cluster.certificates.certificates import read_certificates
from ..cluster.election.elector import Elector
from ..cluster.serving.http_server import PROTOCOLS, HttpServer
from ..cluster.serving.tls import client_context, load, server_context
from ..cluster.watch.delivery import ChangeNotifier
from ..cluster.writes import TermGuard
from ..control.leader_work import term_writers
from ..extender.binder import Binder
from ..extender.leader_client import LeaderCall, LeaderClient
from ..extender.server import ExtenderServer
from ..extender.waker import Waker
from ..metrics import Metrics
from ..quota.ledger.ledger import Ledger
from ..settings import Packing, Settings
from .admission_endpoint import certificate_source, serving_names

_LOG = logging.getLogger(__name__)
_LOOK: Final = 5.0
"""Seconds between two reads of the Secrets: so long a withdrawn certificate is still accepted."""
_LOOK_AGAIN: Final = 1.0
"""The same while something is missing or wrong."""


class _WatchedSecret:
    """One of the two, as it was last found in order."""

    def __init__(self, source: CertificateSource, *, withdrawable: bool = False) -> None:
        """`withdrawable`: if the Secret is gone, so is what it held; else it is held on."""
        self._source = source
        self._withdrawable = withdrawable
        self.held: Holding | None = None
        self.problem = ""

    async def look(self) -> None:
        """Read it, and renew it if it is ours. What is wrong is in `problem`."""
        try:
            found = await self._source.look()
        except (ApiError, OutcomeUnknown) as error:
            self._tell(f"certificates of the extender: {error}; trying again")
            return
        self.held = found.holding or (None if self._withdrawable else self.held)
        self._tell(found.problem)

    def _tell(self, problem: str) -> None:
        if problem != self.problem and problem:
            _LOG.warning("%s", problem)
        self.problem = problem


class ExtenderEndpoint:
    """Serves kube-scheduler, and nobody without a certificate of its CA."""

    def __init__(self, settings: Settings, client: Client, *, grace: float) -> None:
        """`grace`: seconds for calls in flight when the server closes."""
        self._settings = settings
        self._grace = grace
        extender = settings.extender
        names = serving_names(extender, settings.namespace)
        source = partial(certificate_source, settings, client, extender)
        self._server = _WatchedSecret(source(extender.secret, names))
        secret = extender.client_secret
        self._client = _WatchedSecret(source(secret, [secret]), withdrawable=True)
        self._refused = ""
        self.client_tls: ssl.SSLContext | None = None
        """By which one replica calls another."""

    @property
    def problem(self) -> str:
        """In words for people: why certificates are not in order; empty if they are."""
        return self._server.problem or self._client.problem or self._refused

    async def run(
        self, server: HttpServer, opened: Callable[[], Coroutine[Any, Any, None]]
    ) -> None:
        """Serve until cancelled. `opened` runs before the server listens.

        Errors: OSError if the address is in use; those of `opened`.
        """
        await opened()
        extender = self._settings.extender
        while True:
            tls = await self._first()
            name = extender.client_name or extender.client_secret
            await server.start(extender.host, extender.port, tls, client_name=name)
            _LOG.info("the scheduler extender listens on port %d", extender.port)
            try:
                await self._until_withdrawn(tls)
            finally:
                await server.stop(self._grace)
            _LOG.warning("the extender's callers have to show another certificate")

    async def _first(self) -> ssl.SSLContext:
        while True:
            await self._look()
            tls = self._taken(None)
            if tls is not None:
                return tls
            await asyncio.sleep(_LOOK_AGAIN)

    async def _until_withdrawn(self, tls: ssl.SSLContext) -> None:
        """Follow both Secrets. Returns when a CA by which callers were known is not there any more:
        some may be connected by it.
        """
        before = self._server.held, self._client.held
        while True:
            await asyncio.sleep(_LOOK_AGAIN if self.problem else _LOOK)
            await self._look()
            found = self._server.held, self._client.held
            if _is_withdrawn(before[1], found[1]):
                self.client_tls = None
                return
            if found == before:
                self._refused = ""  # whatever could not be served is gone again
            elif self._taken(tls) is not None:
                before = found

    def _taken(self, tls: ssl.SSLContext | None) -> ssl.SSLContext | None:
        """A context that serves what both Secrets hold: `tls` from now on, or a new one. None if
        they lack something, or it cannot be served.
        """
        served, shown = self._server.held, self._client.held
        if served is None or shown is None:
            return None
        pair, client = served.serving, shown.serving
        serve = server_context if tls is None else partial(load, tls)
        try:
            made = serve(pair.cert_pem, pair.key_pem, clients=shown.bundle, protocols=PROTOCOLS)
            self.client_tls = client_context(client.cert_pem, client.key_pem, servers=served.bundle)
        except ssl.SSLError as error:
            self._refuse(error)
            return None
        self._refused = ""
        return made or tls

    async def _look(self) -> None:
        await asyncio.gather(self._server.look(), self._client.look())

    def _refuse(self, error: ssl.SSLError) -> None:
        where = self._settings.namespace
        extender = self._settings.extender
        refused = (
            f"Secrets <{where}/{extender.secret}> and <{where}/{extender.client_secret}>: they "
            f"cannot be served: {error.reason}"
        )
        if refused != self._refused:
            self._refused = refused
            _LOG.warning("%s", refused)


def _is_withdrawn(before: Holding | None, now: Holding | None) -> bool:
    trusted = read_certificates(now.bundle) if now is not None else []
    return any(one not in trusted for one in read_certificates(before.bundle if before else b""))


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
        extender = settings.extender
        spread = extender.packing is Packing.SPREAD

        within = extender.timeout_seconds - _MARGIN
        writers = term_writers(client, elector.time_left, guard, settings)
        self.binder: Final = Binder(
            ledger, notifier, writers.deciding, answer_within=within - _MARGIN / 2, spread=spread
        )
        self._endpoint = ExtenderEndpoint(settings, client, grace=grace)
        self._leader = LeaderClient(
            elector.leader_address,
            lambda: self._endpoint.client_tls,
            server_name=serving_names(extender, settings.namespace)[0],
            timeout=within,
        )
        self._waker = Waker(ledger, notifier, client, time.monotonic)
        self.server: Final = ExtenderServer(
            ledger,
            notifier,
            LeaderCall(self.binder, self._leader),
            synced,
            metrics,
            waker=self._waker,
            spread=spread,
        )

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
            await self._leader.close()

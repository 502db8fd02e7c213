"""What answers Volcano's scheduler, put together: the votes, and the server that hears them."""

import asyncio
import logging
import ssl
from collections.abc import Awaitable, Callable
from functools import lru_cache
from typing import Final

from ..cluster.election.elector import Elector
from ..cluster.serving.http_server import HttpServer
from ..cluster.serving.tls import trusting_context
from ..cluster.watch.delivery import ChangeNotifier
from ..extender.enqueue_server import EnqueueServer
from ..extender.enqueue_votes import EnqueueVotes, JobRequests, Notify
from ..extender.leader_client import LeaderClient, LeaderVotes
from ..metrics import Metrics
from ..quota.ledger.ledger import Ledger
from ..quota.vocabulary import ENQUEUE_ADDRESS
from ..settings import Settings
from .admission_endpoint import serving_names
from .process import GRACE

_LOG = logging.getLogger(__name__)
_LEADERS_ANSWER: Final = 1.5
"""Seconds for the leader's vote. Volcano's plugin waits for a second or more, as configured."""
LOOPBACK: Final = "127.0.0.1"


class EnqueueParts:
    """Listens beside the webhook, under its certificate, and on loopback without one if wanted."""

    def __init__(
        self,
        settings: Settings,
        ledger: Ledger,
        notifier: ChangeNotifier,
        elector: Elector,
        metrics: Metrics,
        synced: Callable[[], bool],
        notify: Notify,
        bundle: Callable[[], bytes],
        read: Callable[[str], Awaitable[bytes]],
    ) -> None:
        """`bundle`: the CAs by which replicas know each other, PEM. `read` gets an object
        by its path.
        """
        self._settings = settings.volcano.enqueue
        self._bundle = bundle
        self._trusting = lru_cache(1)(trusting_context)
        self._leader = LeaderClient(
            lambda: elector.leader_address(ENQUEUE_ADDRESS),
            self._tls,
            server_name=serving_names(settings.webhook, settings.namespace)[0],
            timeout=_LEADERS_ANSWER,
            secret=self._settings.path_secret,
        )
        jobs = JobRequests(ledger, notifier, read)
        leader = LeaderVotes(self._leader)
        self.votes: Final = EnqueueVotes(ledger, notifier, leader, synced, notify, jobs)
        secret = self._settings.path_secret
        answers = EnqueueServer(self.votes, metrics, secret=secret)
        self._server, self._plain = answers.http(), answers.http()

    async def start(self, tls: ssl.SSLContext) -> None:
        """Listen. Raises OSError if an address is in use."""
        settings = self._settings
        await self._server.start(settings.host, settings.port, tls)
        _LOG.info("Volcano may ask on port %d which pod groups to enqueue", settings.port)
        if settings.plain_port is not None:
            await self._plain.start(LOOPBACK, settings.plain_port, None)

    def leave(self) -> None:
        """Close every connection once what came on it is answered."""
        for server in self._servers:
            server.leave()

    async def stop(self) -> None:
        """Answer what is in flight, and close."""
        await asyncio.gather(*(server.stop(GRACE) for server in self._servers))
        await self._leader.close()

    @property
    def _servers(self) -> tuple[HttpServer, HttpServer]:
        return self._server, self._plain

    def _tls(self) -> ssl.SSLContext | None:
        """Trusts the leader's certificate; None while no CA is known."""
        bundle = self._bundle()
        try:
            return self._trusting(bundle) if bundle else None
        except ssl.SSLError:
            return None

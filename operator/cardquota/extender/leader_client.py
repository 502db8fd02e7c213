"""What came to a replica that does not lead is passed on to the one that does.

A scheduler knows one address, and any replica may get its call. Only the leader binds pods and
gives groups their places in the order; it writes its own address on the Lease.
"""

import asyncio
import logging
import ssl
import time
from collections.abc import Callable
from typing import Final

import aiohttp

from ..quota.decisions.volcano import Vote
from ..quota.messages import binding_messages as m
from .binder import Binder
from .enqueue_wire import ENQUEUE_PATH, EnqueueAsk, enqueue_call, read_vote
from .wire import BindArgs, WireError, bind_call, read_error

PASSED_ON: Final = "X-Cardquota-Passed-On"
"""Header of a call that another replica has passed on. It is passed on once."""
_LOG = logging.getLogger(__name__)
_BIND: Final = "/scheduler/bind"
_MOST: Final = 64 * 1024
"""Bytes that are read of an answer."""
NOT_AGAIN: Final = 10.0
"""Seconds for which an address that gave no answer to a question of Volcano's is not asked: it asks
about one group after another, and each question costs it the whole time-out."""
FAILURES: Final = (aiohttp.ClientError, TimeoutError, OSError)
"""What a call may fail with."""


class LeaderClient:
    """Posts to the leader, wherever it is now."""

    def __init__(
        self,
        leader: Callable[[], str],
        tls: Callable[[], ssl.SSLContext | None],
        *,
        server_name: str,
        timeout: float,
        secret: str = "",
    ) -> None:
        """`leader`: host and port, empty if none is known. `tls`: trusts the leader's certificate,
        and shows ours where that is asked for. `server_name`: what the leader's certificate must
        cover. `timeout`: seconds. `secret`: the segment that comes before the last one of every
        path; empty: none (N3).
        """
        self._leader = leader
        self._tls = tls
        self._server_name = server_name
        self._timeout = timeout
        self._secret = f"/{secret}" if secret else ""
        self._session: aiohttp.ClientSession | None = None

    @property
    def address(self) -> str:
        """Host and port of the leader; empty if it cannot be called now."""
        return self._leader() if self._tls() is not None else ""

    async def post(self, address: str, path: str, data: bytes) -> tuple[int, bytes]:
        """Post a JSON body. Returns status and body of the answer. Raises FAILURES."""
        before, _, verb = path.rpartition("/")
        path = f"{before}{self._secret}/{verb}"
        if self._session is None:
            self._session = aiohttp.ClientSession(timeout=aiohttp.ClientTimeout())
        async with (
            asyncio.timeout(self._timeout),
            self._session.post(
                f"https://{address}{path}",
                data=data,
                headers={PASSED_ON: "1", "Content-Type": "application/json"},
                ssl=self._tls() or True,
                server_hostname=self._server_name,
                allow_redirects=False,
            ) as response,
        ):
            return response.status, await response.content.read(_MOST)

    async def close(self) -> None:
        """Close all connections."""
        session, self._session = self._session, None
        if session is not None:
            await session.close()
            await asyncio.sleep(0)


class LeaderCall:
    """Binds here if this replica leads, and else on the leader."""

    def __init__(self, binder: Binder, client: LeaderClient) -> None:
        """`client` shows our certificate to the leader's extender."""
        self._binder = binder
        self._client = client

    async def bind(self, args: BindArgs, *, passed_on: bool = False) -> str:
        """Bind a pod. Returns why it is not bound; empty if it is."""
        if self._binder.leads or passed_on:
            return await self._binder.bind(args)
        address = self._client.address
        if not address:
            return m.NO_LEADER
        try:
            _, body = await self._client.post(address, _BIND, bind_call(args))
            return read_error(body)
        except (*FAILURES, WireError) as error:
            _LOG.warning("passing a bind on to %s: %r", address, error)
            return m.leader_unreachable(address)


class LeaderVotes:
    """Asks the leader, over connections that are kept."""

    def __init__(self, client: LeaderClient, clock: Callable[[], float] = time.monotonic) -> None:
        """`clock`: seconds, monotonic."""
        self._client = client
        self._clock = clock
        self._silent = ""
        """The address that gave no answer last."""
        self._not_before = 0.0

    async def ask(self, ask: EnqueueAsk) -> Vote:
        """The leader's vote; REJECT if it cannot be had: Volcano asks again in its next session."""
        address = self._client.address
        if not address or (address == self._silent and self._clock() < self._not_before):
            return Vote.REJECT
        try:
            return read_vote(*await self._client.post(address, ENQUEUE_PATH, enqueue_call(ask)))
        except (*FAILURES, WireError) as error:
            _LOG.warning("asking %s whether to enqueue a group: %r", address, error)
            if not isinstance(error, WireError):
                self._silent, self._not_before = address, self._clock() + NOT_AGAIN
            return Vote.REJECT

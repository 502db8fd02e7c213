"""A bind that came to a replica that does not lead: passed on to the one that does.

kube-scheduler knows one address, and any replica may get its call. The leader writes its own on the
Lease.
"""

import asyncio
import logging
import ssl
from collections.abc import Callable
from typing import Final, Protocol

import aiohttp

from ..quota.messages import binding_messages as m
from .wire import BindArgs, WireError, bind_call, read_error

_LOG = logging.getLogger(__name__)
PASSED_ON: Final = "X-Cardquota-Passed-On"
"""Header of a bind that another replica has passed on. It is passed on once."""


class LeaderBinds(Protocol):
    """The binder of this replica."""

    @property
    def leads(self) -> bool:
        """Whether this replica binds."""

    async def bind(self, args: BindArgs) -> str:
        """Bind a pod. Returns why it is not bound; empty if it is."""


class LeaderCall:
    """Binds here if this replica leads, and else on the leader."""

    def __init__(
        self,
        binder: LeaderBinds,
        leader: Callable[[], str],
        tls: Callable[[], ssl.SSLContext | None],
        *,
        server_name: str,
        timeout: float,
    ) -> None:
        """`leader`: host and port of the leader's extender, empty if none is known. `tls`: shows
        our certificate. `server_name`: what the leader's certificate must cover. `timeout`:
        seconds.
        """
        self._binder = binder
        self._leader = leader
        self._tls = tls
        self._server_name = server_name
        self._timeout = timeout
        self._session: aiohttp.ClientSession | None = None

    async def bind(self, args: BindArgs, *, passed_on: bool = False) -> str:
        """Bind a pod. Returns why it is not bound; empty if it is."""
        if self._binder.leads or passed_on:
            return await self._binder.bind(args)
        address, tls = self._leader(), self._tls()
        if not address or tls is None:
            return m.NO_LEADER
        try:
            return await self._call(address, tls, args)
        except (aiohttp.ClientError, TimeoutError, OSError, WireError) as error:
            _LOG.warning("passing a bind on to %s: %r", address, error)
            return m.leader_unreachable(address)

    async def _call(self, address: str, tls: ssl.SSLContext, args: BindArgs) -> str:
        if self._session is None:
            self._session = aiohttp.ClientSession(timeout=aiohttp.ClientTimeout())
        async with (
            asyncio.timeout(self._timeout),
            self._session.post(
                f"https://{address}/scheduler/bind",
                data=bind_call(args),
                headers={PASSED_ON: "1", "Content-Type": "application/json"},
                ssl=tls,
                server_hostname=self._server_name,
                allow_redirects=False,
            ) as response,
        ):
            return read_error(await response.content.read(64 * 1024))

    async def close(self) -> None:
        """Close all connections."""
        session, self._session = self._session, None
        if session is not None:
            await session.close()
            await asyncio.sleep(0)

"""A bind that came to a replica that does not lead: passed on to the one that does.

kube-scheduler knows one address, and any replica may get its call. The leader writes its own on the
Lease.
"""

import logging
from typing import Final, Protocol

from ..quota.messages import binding_messages as m
from .leader_client import FAILURES, LeaderClient
from .wire import BindArgs, WireError, bind_call, read_error

_LOG = logging.getLogger(__name__)
_BIND: Final = "/scheduler/bind"
_MOST: Final = 64 * 1024
"""Bytes that are read of an answer."""


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
        client: LeaderClient,
    ) -> None:
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
            answer = await self._client.post(address, _BIND, bind_call(args), most=_MOST)
            return read_error(answer.body)
        except (*FAILURES, WireError) as error:
            _LOG.warning("passing a bind on to %s: %r", address, error)
            return m.leader_unreachable(address)

    async def close(self) -> None:
        """Close all connections."""
        await self._client.close()

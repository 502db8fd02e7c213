"""A question that came to a replica that does not lead: passed on to the one that does.

Only the leader may give a group its place in the order. Volcano knows one address, and any replica
may get its call; the leader writes its own on the Lease.
"""

import logging
from typing import Final

from ...quota.decisions.groups.enqueue_vote import Vote
from ..leader_client import FAILURES, LeaderClient
from .enqueue_answer import EnqueueAnswerError, read_vote
from .enqueue_ask import PATH, EnqueueAsk, enqueue_call

_LOG = logging.getLogger(__name__)
_MOST: Final = 4_096
"""Bytes that are read of an answer."""


class LeaderVotes:
    """Asks the leader, over connections that are kept."""

    def __init__(self, client: LeaderClient) -> None:
        self._client = client

    async def ask(self, ask: EnqueueAsk) -> Vote:
        """The leader's vote; REJECT if it cannot be had: Volcano asks again in its next session."""
        address = self._client.address
        if not address:
            return Vote.REJECT
        try:
            answer = await self._client.post(address, PATH, enqueue_call(ask), most=_MOST)
            return read_vote(answer.status, answer.body)
        except (*FAILURES, EnqueueAnswerError) as error:
            _LOG.warning("asking %s whether to enqueue a group: %r", address, error)
            return Vote.REJECT

    async def close(self) -> None:
        """Close all connections."""
        await self._client.close()

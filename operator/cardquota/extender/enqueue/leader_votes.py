"""A question that came to a replica that does not lead: passed on to the one that does.

Only the leader may give a group its place in the order. Volcano knows one address, and any replica
may get its call; the leader writes its own on the Lease.
"""

import logging
import time
from collections.abc import Callable
from typing import Final

from ...quota.decisions.groups.enqueue_vote import Vote
from ..leader_client import FAILURES, LeaderClient
from .enqueue_answer import EnqueueAnswerError, read_vote
from .enqueue_ask import PATH, EnqueueAsk, enqueue_call

_LOG = logging.getLogger(__name__)
_MOST: Final = 4_096
"""Bytes that are read of an answer."""
NOT_AGAIN: Final = 10.0
"""Seconds for which an address that gave no answer is not asked. Volcano asks about one group after
another, and each question costs it the whole time-out."""


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
            answer = await self._client.post(address, PATH, enqueue_call(ask), most=_MOST)
            return read_vote(answer.status, answer.body)
        except (*FAILURES, EnqueueAnswerError) as error:
            _LOG.warning("asking %s whether to enqueue a group: %r", address, error)
            if not isinstance(error, EnqueueAnswerError):
                self._silent, self._not_before = address, self._clock() + NOT_AGAIN
            return Vote.REJECT

    async def close(self) -> None:
        """Close all connections."""
        await self._client.close()

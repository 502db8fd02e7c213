"""Refused writes that a replica noticed that does not lead: passed on to the one that does (V1).

The API server asks any replica, and only the leader writes conditions. Whoever is refused tries
again, so nothing here has to arrive.
"""

import asyncio
import logging
from collections.abc import Callable
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Final, NamedTuple

from ...loop.ended import ended
from ...quota.reports.strangers import MOST_PODS
from ...quota.vocabulary import RefusedWrite
from ..leader_client import FAILURES, LeaderClient
from .refusal_call import FULL, PATH, refusal_call, refusal_note

_LOG = logging.getLogger(__name__)
PAUSE: Final = 1.0
"""Seconds between two calls."""
AGAIN: Final = 30.0
"""Seconds after which the same is passed on again. The leader may be another one since."""
MOST_WAITING: Final = 64
"""Users that are to be passed on. Then the one that has waited longest is forgotten."""
MOST_OF_QUEUE: Final = 16
"""The same of one queue: whoever makes many users holds up no other queue for long."""
MOST_PASSED: Final = 256
"""Users of which it is known what was passed on. More are passed on again."""
_MOST_READ: Final = 1_024
"""Bytes of an answer."""


class _PassedKey(NamedTuple):
    what: RefusedWrite
    user: str
    queue: str


@dataclass(slots=True)
class _PassedOn:
    at: float
    pods: set[str] = field(default_factory=set)


class LeaderRefusals:
    """Tells the leader, over connections that are kept. Belongs to the ledger's loop.

    Guarantees: one call at a time, one a second, of some KiB; memory is bounded, whoever is refused
    whatever. Not guaranteed: that anything arrives.
    """

    def __init__(self, client: LeaderClient, clock: Callable[[], float]) -> None:
        """The caller closes the client. `clock`: seconds, monotonic."""
        self._client = client
        self._clock = clock
        self._waiting: dict[_PassedKey, dict[str, None]] = {}
        """Pods by uid. Who has waited longest is the first."""
        self._passed: dict[_PassedKey, _PassedOn] = {}
        """Who was passed on first is the first."""
        self._calls: asyncio.Task[None] | None = None
        self._stopped = False

    @property
    def waiting(self) -> int:
        """Users that are to be passed on."""
        return len(self._waiting)

    def note(self, what: RefusedWrite, user: str, queue: str, uid: str) -> None:
        """It was refused to this user for a pod of this queue."""
        key = _PassedKey(what, user, queue)
        if self._stopped or self._is_known(key, uid):
            return
        pods = self._waiting.get(key)
        if pods is None:
            self._make_room(queue)
            pods = self._waiting[key] = {}
        pods[uid] = None
        if len(pods) > MOST_PODS:
            del pods[next(iter(pods))]
        if self._calls is None or self._calls.done():
            self._calls = asyncio.get_running_loop().create_task(self._pass_on())

    async def stop(self) -> None:
        """Call nobody any more."""
        self._stopped = True
        calls, self._calls = self._calls, None
        self._waiting.clear()
        if calls is not None:
            await ended({calls})

    def _is_known(self, key: _PassedKey, uid: str) -> bool:
        """Whether the leader was told not long ago. More pods of one user than it counts, and one
        by which it knows that there are more, are no news.
        """
        passed = self._passed.get(key)
        if passed is None or self._clock() >= passed.at + AGAIN:
            return False
        return uid in passed.pods or len(passed.pods) > MOST_PODS

    def _make_room(self, queue: str) -> None:
        of_queue = [key for key in self._waiting if key.queue == queue]
        if len(of_queue) >= MOST_OF_QUEUE:
            del self._waiting[of_queue[0]]
        elif len(self._waiting) >= MOST_WAITING:
            del self._waiting[next(iter(self._waiting))]

    async def _pass_on(self) -> None:
        while self._waiting:
            batch = self._take()
            if await self._post(batch):
                self._remember(batch)
            await asyncio.sleep(PAUSE)

    def _take(self) -> dict[_PassedKey, tuple[str, ...]]:
        """As much as one call has room for."""
        batch, size = dict[_PassedKey, tuple[str, ...]](), 0
        while self._waiting and size < FULL:
            key = next(iter(self._waiting))
            batch[key] = tuple(self._waiting.pop(key))
            size += len(refusal_call([refusal_note(key.what, key.user, batch[key])]))
        return batch

    async def _post(self, batch: dict[_PassedKey, tuple[str, ...]]) -> bool:
        """Returns whether the leader took it."""
        address = self._client.address
        if not address:
            return False
        body = refusal_call([refusal_note(key.what, key.user, pods) for key, pods in batch.items()])
        try:
            answer = await self._client.post(address, PATH, body, most=_MOST_READ)
        except FAILURES as error:
            _LOG.debug("telling %s of refused writes: %r", address, error)
            return False
        if answer.status != HTTPStatus.OK:
            _LOG.debug("telling %s of refused writes: HTTP %d", address, answer.status)
        return answer.status == HTTPStatus.OK

    def _remember(self, batch: dict[_PassedKey, tuple[str, ...]]) -> None:
        now = self._clock()
        for key, pods in batch.items():
            passed = self._passed.pop(key, None)
            if passed is None or now >= passed.at + AGAIN:
                passed = _PassedOn(now)
            passed.pods.update(pods)
            self._passed[key] = passed
            if len(self._passed) > MOST_PASSED:
                del self._passed[next(iter(self._passed))]

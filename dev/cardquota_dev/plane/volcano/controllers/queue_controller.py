"""Queues: their state, and how many pod groups of each phase are in them."""

import asyncio
import logging
from collections import Counter
from collections.abc import Mapping

from ..api_client import CONFLICT, NOT_FOUND, AccountClient, ApiRefusalError, ObjectCache
from ..api_objects import QUEUES, Json, is_deleted, name, path, phase, status
from ..known_fields import queue_with_status

_log = logging.getLogger(__name__)

_COUNTED = ("Pending", "Running", "Unknown", "Inqueue", "Completed")


class QueueController:
    """Writes a queue's status only when something changes: then all of it, which drops what
    Volcano does not know.
    """

    def __init__(self, api: AccountClient, queues: ObjectCache, groups: ObjectCache) -> None:
        self._api, self._queues, self._groups = api, queues, groups

    async def sync(self) -> None:
        """Bring every status up to date. Failures are logged; the next call retries."""
        counts: dict[str, Counter[str]] = {}
        for group in self._groups.objects.values():
            of_queue = counts.setdefault(group["spec"].get("queue") or "default", Counter())
            of_queue[phase(group) or "Pending"] += 1
        queues = [one for one in self._queues.objects.values() if not is_deleted(one)]
        await asyncio.gather(*(self._sync(one, counts.get(name(one), {})) for one in queues))

    async def set_state(self, queue: Json, wanted: str) -> None:
        """Open or close a queue. Raises ApiRefusalError."""
        has_groups = any(
            (one["spec"].get("queue") or "default") == name(queue)
            for one in self._groups.objects.values()
        )
        if wanted == "Closed" and has_groups:
            wanted = "Closing"
        await self._write(queue, {**status(queue), "state": wanted})

    async def _sync(self, queue: Json, counts: Mapping[str, int]) -> None:
        try:
            await self._write(queue, queue_status(queue, counts))
        except ApiRefusalError as error:
            if error.status not in (CONFLICT, NOT_FOUND):
                _log.warning("queue %s: %s", name(queue), error)

    async def _write(self, queue: Json, wanted: Json) -> None:
        found = status(queue)
        if all(found.get(one) == value for one, value in wanted.items()):
            return
        body = queue_with_status(queue, wanted)
        await self._api.ask("PUT", f"{path(QUEUES, queue)}/status", body)


def queue_status(queue: Json, counts: Mapping[str, int]) -> Json:
    """What a queue's status should be, with so many groups of each phase in it.

    A count of nothing is written only over a number.
    """
    found = dict(status(queue))
    state = found.get("state") or "Open"
    if state == "Closing" and not any(counts.values()):
        state = "Closed"
    found["state"] = state
    for one in _COUNTED:
        if counts.get(one) or found.get(one.lower()):
            found[one.lower()] = counts.get(one, 0)
    return found

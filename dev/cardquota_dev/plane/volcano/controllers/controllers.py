"""All controllers in one process, as Volcano's are."""

import asyncio
from contextlib import suppress
from typing import Final

from ..api_client import AccountClient, ObjectCache
from ..api_objects import COMMANDS, GROUPS, JOBS, PODS, QUEUES
from .command_controller import CommandController
from .group_controller import GroupController
from .job_controller import JobController
from .queue_controller import QueueController
from .retry_pauses import RetryPauses

_GATHER: Final = 0.05
"""Seconds in which changes are gathered before they are looked at together."""
_ANYWAY: Final = 5.0
"""Seconds after which all is looked at without a change: what failed is then tried again."""


class Controllers:
    """Look at all that there is whenever something changes."""

    def __init__(self, api: AccountClient, pauses: RetryPauses) -> None:
        self._changed = asyncio.Event()
        collections = (JOBS, GROUPS, PODS, QUEUES, COMMANDS)
        self._caches = [ObjectCache(api, one, self._changed.set) for one in collections]
        jobs, groups, pods, queues, commands = self._caches
        self._jobs = JobController(api, jobs, groups, pods, pauses)
        self._groups = GroupController(api, groups, pods)
        self._queues = QueueController(api, queues, groups)
        self._commands = CommandController(api, commands, self._queues)

    @property
    def listed(self) -> bool:
        """Whether all that there was at the start is known."""
        return all(one.listed.is_set() for one in self._caches)

    async def work(self) -> None:
        """Work until cancelled."""
        async with asyncio.TaskGroup() as tasks:
            for cache in self._caches:
                tasks.create_task(cache.keep())
            for cache in self._caches:
                await cache.listed.wait()
            while True:
                self._changed.clear()
                await self._commands.sync()
                await asyncio.gather(self._jobs.sync(), self._groups.sync(), self._queues.sync())
                await self._until_changed()

    async def _until_changed(self) -> None:
        pause = self._jobs.next_try()
        with suppress(TimeoutError):
            async with asyncio.timeout(_ANYWAY if pause is None else min(pause, _ANYWAY)):
                await self._changed.wait()
                await asyncio.sleep(_GATHER)

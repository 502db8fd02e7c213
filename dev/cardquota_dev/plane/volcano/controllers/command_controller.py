"""Commands of `bus.volcano.sh`: each is deleted, then done, once."""

import asyncio
import logging
from typing import Final

from ..api_client import CONFLICT, NOT_FOUND, AccountClient, ApiRefusalError, ObjectCache
from ..api_objects import COMMANDS, JOBS, QUEUES, Json, is_deleted, key, namespace, path, within
from .job_step import job_phase, state
from .queue_controller import QueueController

_log = logging.getLogger(__name__)

_JOB_ACTIONS: Final = {
    "AbortJob": ("Aborting", ("", "Pending", "Running")),
    "RestartJob": ("Restarting", ("", "Pending", "Running", "Failed")),
    "ResumeJob": ("Restarting", ("Aborted", "Aborting")),
    "TerminateJob": ("Terminating", ("", "Pending", "Running", "Aborted")),
}
"""The phase that an action sets, and those in which it does."""
_TRIES: Final = 10
_QUEUE_ACTIONS: Final = {"OpenQueue": "Open", "CloseQueue": "Closed"}


class CommandController:
    """A command that means nothing, or is about what is not there, is deleted all the same."""

    def __init__(
        self,
        api: AccountClient,
        commands: ObjectCache,
        states: QueueController,
    ) -> None:
        self._api, self._commands, self._states = api, commands, states

    async def sync(self) -> None:
        """Do all commands."""
        found = [one for one in self._commands.objects.values() if not is_deleted(one)]
        await asyncio.gather(*map(self._do, found))

    async def _do(self, command: Json) -> None:
        try:
            await self._api.ask("DELETE", path(COMMANDS, command))
        except ApiRefusalError as error:
            if error.status != NOT_FOUND:  # else it was done before, and the watch is late
                _log.warning("command %s: %s", key(command), error)
            return
        for _ in range(_TRIES):
            try:
                await self._act(command)
            except ApiRefusalError as error:
                if error.status == CONFLICT:
                    continue
                _log.warning("command %s was not done: %s", key(command), error)
            return

    async def _act(self, command: Json) -> None:
        action = str(command.get("action"))
        target = command.get("target") or {}
        if action in _QUEUE_ACTIONS and target.get("kind") == "Queue":
            queue = await self._api.ask("GET", f"{QUEUES}/{target['name']}")
            await self._states.set_state(queue, _QUEUE_ACTIONS[action])
        elif action in _JOB_ACTIONS and target.get("kind") == "Job":
            where = within(JOBS, namespace(command))
            job = await self._api.ask("GET", f"{where}/{target['name']}")
            wanted, before = _JOB_ACTIONS[action]
            if job_phase(job) in before:
                body = {**job, "status": state(job, wanted, action)}
                await self._api.ask("PUT", f"{path(JOBS, job)}/status", body)
        else:
            _log.warning("command %s: nothing to do for %s", key(command), action)

"""The scheduler: a session once a second, and what comes of it at the API server."""

import asyncio
import logging
import secrets
from collections.abc import Awaitable
from typing import Final

from ..api_client import CONFLICT, NOT_FOUND, AccountClient, ApiRefusalError, ObjectCache
from ..api_objects import (
    GROUPS,
    NODES,
    PODS,
    QUEUES,
    Json,
    annotations,
    key,
    name,
    namespace,
    path,
    status,
    uid,
)
from ..known_fields import group_with_status, known_group_status, queue_with_status
from ..resource_amounts import resource_list
from .configuration import ConfigurationFile, SchedulerConfigurationError
from .enqueue_vote import is_permitted
from .group_status import UNSCHEDULABLE, group_status, why_unschedulable
from .session import VolcanoBinding, VolcanoSession

_log = logging.getLogger(__name__)

_SOURCE: Final = "volcano"
_TOGETHER: Final = 16
"""Writes at a time."""


class VolcanoScheduler:
    """Writes whole objects from its cache: what changed meanwhile is a conflict, and waits for the
    next session. What it has bound counts as bound from then on, until the API server refuses.
    """

    def __init__(self, api: AccountClient, file: ConfigurationFile, period: float) -> None:
        self._api, self._file, self._period = api, file, period
        paths = (PODS, NODES, GROUPS, QUEUES)
        self._caches = [ObjectCache(api, one, _nothing) for one in paths]
        self._pods, self._nodes, self._groups, self._queues = self._caches
        self._binding: dict[str, VolcanoBinding] = {}
        self._writes: set[asyncio.Task[None]] = set()
        self._told: dict[str, tuple[Json, int]] = {}
        self._slots = asyncio.Semaphore(_TOGETHER)

    @property
    def listed(self) -> bool:
        """Whether all that there was at the start is known."""
        return all(one.listed.is_set() for one in self._caches)

    async def work(self) -> None:
        """A session after the other, until cancelled."""
        async with asyncio.TaskGroup() as tasks:
            for cache in self._caches:
                tasks.create_task(cache.keep())
            for cache in self._caches:
                await cache.listed.wait()
            while True:
                try:
                    await self._session()
                except SchedulerConfigurationError as error:
                    _log.warning("no session: %s", error)
                await asyncio.sleep(self._period)

    async def _session(self) -> None:
        configuration = self._file.now()
        self._forget()
        session = VolcanoSession(
            self._pods.objects.values(),
            self._nodes.objects.values(),
            self._groups.objects.values(),
            self._queues.objects,
            {pod: binding.node for pod, binding in self._binding.items()},
        )
        for group in session.may_enqueue():
            group.enqueued = await is_permitted(configuration, session, group)
        for binding in session.allocate(cache_errors=configuration.cache_predicate_errors):
            self._binding[uid(binding.pod)] = binding
            self._start(self._bind(binding))
        await self._write(session)

    async def _write(self, session: VolcanoSession) -> None:
        number = secrets.token_hex(8)
        writes = []
        for found in session.groups:
            wanted = group_status(found, number)
            if wanted != known_group_status(found.group):
                body = group_with_status(found.group, wanted)
                writes.append(self._put(path(GROUPS, found.group), body))
            if text := why_unschedulable(found):
                writes.append(self._tell(found.group, text))
        for queue in self._queues.objects.values():
            allocated = resource_list(session.allocated(name(queue)))
            if allocated != (status(queue).get("allocated") or {}):
                body = queue_with_status(queue, {**status(queue), "allocated": allocated})
                writes.append(self._put(f"{path(QUEUES, queue)}/status", body))
        await asyncio.gather(*writes)

    async def _put(self, where: str, body: Json) -> None:
        try:
            async with self._slots:
                await self._api.ask("PUT", where, body)
        except ApiRefusalError as error:
            if error.status not in (CONFLICT, NOT_FOUND):
                _log.warning("%s: %s", where, error)

    async def _tell(self, group: Json, text: str) -> None:
        """One event per group and text, whose count goes up each session."""
        try:
            async with self._slots:
                event, count = self._told.get(uid(group), ({}, 0))
                if event.get("message") == text[:1024]:
                    await self._api.tell_again(event, count + 1)
                else:
                    event = await self._api.tell(group, "PodGroup", UNSCHEDULABLE, text, _SOURCE)
                    count = 0
                self._told[uid(group)] = (event, count + 1)
        except ApiRefusalError as error:
            self._told.pop(uid(group), None)
            _log.info("event about %s: %s", key(group), error)

    async def _bind(self, binding: VolcanoBinding) -> None:
        """One Binding, with all annotations that the cache had of the pod when it was placed."""
        pod = binding.pod
        body = {
            "apiVersion": "v1",
            "kind": "Binding",
            "metadata": {
                "name": name(pod),
                "namespace": namespace(pod),
                "uid": uid(pod),
                "annotations": dict(annotations(pod)),
            },
            "target": {"apiVersion": "v1", "kind": "Node", "name": binding.node},
        }
        try:
            async with self._slots:
                await self._api.ask("POST", f"{path(PODS, pod)}/binding", body)
        except ApiRefusalError as error:
            self._binding.pop(uid(pod), None)
            _log.warning("binding of %s to %s: %s", key(pod), binding.node, error)
            try:
                await self._api.tell(pod, "Pod", "FailedScheduling", str(error), _SOURCE)
            except ApiRefusalError as refused:
                _log.info("event about %s: %s", key(pod), refused)

    def _forget(self) -> None:
        """Forget bindings that the cache has meanwhile, and events of groups that are gone."""
        waiting = {
            uid(one) for one in self._pods.objects.values() if not one["spec"].get("nodeName")
        }
        for pod in self._binding.keys() - waiting:
            del self._binding[pod]
        for group in self._told.keys() - {uid(one) for one in self._groups.objects.values()}:
            del self._told[group]

    def _start(self, write: Awaitable[None]) -> None:
        task = asyncio.ensure_future(write)
        self._writes.add(task)
        task.add_done_callback(self._writes.discard)


def _nothing() -> None:
    """A session looks at the caches anyway."""

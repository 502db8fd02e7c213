"""Jobs of `batch.volcano.sh`: their pod groups, their pods, their status."""

import asyncio
import logging
from collections import defaultdict

from ..api_client import CONFLICT, NOT_FOUND, AccountClient, ApiRefusalError, ObjectCache
from ..api_objects import (
    GROUPS,
    JOBS,
    PODS,
    Json,
    controller_of,
    is_deleted,
    key,
    name,
    namespace,
    path,
    status,
    uid,
    within,
)
from .job_pods import group_name, job_group
from .job_step import JobStep, next_step, state
from .retry_pauses import RetryPauses

_log = logging.getLogger(__name__)

SOURCE = "vc-controller-manager"
"""The component that events are from."""


class JobController:
    """Brings every job one step on at each call of `sync`.

    A refused create of a pod counts once per step, however many pods were refused. After the last
    try the job is terminated.
    """

    def __init__(
        self,
        api: AccountClient,
        jobs: ObjectCache,
        groups: ObjectCache,
        pods: ObjectCache,
        pauses: RetryPauses,
    ) -> None:
        self._api, self._jobs, self._groups, self._pods = api, jobs, groups, pods
        self._pauses = pauses
        self._refusals: dict[str, int] = {}
        self._not_before: dict[str, float] = {}
        self._copied: dict[str, str] = {}
        """By uid of a job: what it was last told of its group."""

    async def sync(self) -> None:
        """One step of each job that does not pause. Failures are logged; the next call retries."""
        own: dict[str, list[Json]] = defaultdict(list)
        for pod in self._pods.objects.values():
            if (owner := controller_of(pod)) is not None:
                own[str(owner["uid"])].append(pod)
        jobs = [one for one in self._jobs.objects.values() if not is_deleted(one)]
        for known in self._refusals.keys() - {uid(one) for one in jobs}:
            del self._refusals[known]
            self._not_before.pop(known, None)
        for known in self._copied.keys() - {uid(one) for one in jobs}:
            del self._copied[known]
        time = asyncio.get_running_loop().time()
        ready = (one for one in jobs if self._not_before.get(uid(one), 0.0) <= time)
        await asyncio.gather(*(self._sync(one, own[uid(one)]) for one in ready))

    def next_try(self) -> float | None:
        """Seconds until a pause is over. None: nothing pauses."""
        time = asyncio.get_running_loop().time()
        waits = [until - time for until in self._not_before.values() if until > time]
        return min(waits, default=None)

    async def _sync(self, job: Json, own: list[Json]) -> None:
        group = self._groups.objects.get(f"{namespace(job)}/{group_name(job)}")
        step = next_step(job, group, own)
        try:
            await self._copy_condition(job, group)
            await self._group(job, group, wanted=step.has_group)
            await asyncio.gather(*(self._delete(PODS, one) for one in step.delete))
            refused = await self._create(step)
            if refused:
                await self._pause(job, refused)
            else:
                self._refusals.pop(uid(job), None)
                self._not_before.pop(uid(job), None)
                await self._write(job, step.status)
        except ApiRefusalError as error:
            if error.status not in (CONFLICT, NOT_FOUND):
                _log.warning("job %s: %s", key(job), error)

    async def _copy_condition(self, job: Json, group: Json | None) -> None:
        """Tell the job what the newest True condition of its group says, once for each text.

        Volcano does so at each sync.
        """
        conditions = status(group or {}).get("conditions") or ()
        holds = [one for one in conditions if one.get("status") == "True"]
        newest: Json = max(holds, key=lambda one: one.get("lastTransitionTime") or "", default={})
        text = str(newest.get("message") or newest.get("reason") or "")
        if text and self._copied.get(uid(job)) != text:
            self._copied[uid(job)] = text
            await self._api.tell(job, "Job", "PodGroupPending", text, SOURCE)

    async def _group(self, job: Json, group: Json | None, *, wanted: bool) -> None:
        if not wanted and group is not None:
            await self._delete(GROUPS, group)
            # Were the old group still known, a job that starts again would have pods too early.
            self._groups.objects.pop(key(group), None)
        elif wanted and group is None:
            wished = job_group(job)
            try:
                await self._api.ask("POST", within(GROUPS, namespace(job)), wished)
            except ApiRefusalError as error:
                if error.status != CONFLICT:
                    raise

    async def _create(self, step: JobStep) -> list[str]:
        """Create the pods. What was said of those that were refused."""
        tries = (self._api.ask("POST", within(PODS, namespace(one)), one) for one in step.create)
        answers = await asyncio.gather(*tries, return_exceptions=True)
        refused = []
        for pod, answer in zip(step.create, answers, strict=True):
            if isinstance(answer, ApiRefusalError) and answer.status != CONFLICT:
                refused.append(f"failed to create pod {name(pod)}: {answer}")
            elif isinstance(answer, BaseException) and not isinstance(answer, ApiRefusalError):
                raise answer
        return refused

    async def _pause(self, job: Json, refused: list[str]) -> None:
        count = self._refusals[uid(job)] = self._refusals.get(uid(job), 0) + 1
        text = f"Error creating pods: {'; '.join(refused)}"
        await self._api.tell(job, "Job", "FailedCreate", text, SOURCE)
        pause = self._pauses.after(count)
        if pause is not None:
            self._not_before[uid(job)] = asyncio.get_running_loop().time() + pause
        else:
            del self._refusals[uid(job)]
            self._not_before.pop(uid(job), None)
            await self._write(job, state(job, "Terminating", "PodsRefused"))

    async def _delete(self, collection: str, thing: Json) -> None:
        if is_deleted(thing):
            return
        try:
            await self._api.ask("DELETE", path(collection, thing))
        except ApiRefusalError as error:
            if error.status != NOT_FOUND:
                raise

    async def _write(self, job: Json, wanted: Json) -> None:
        if wanted == status(job):
            return
        body = {**job, "status": wanted}
        written = await self._api.ask("PUT", f"{path(JOBS, job)}/status", body)
        # The watch tells of it later; until then another step would be taken from the old status.
        self._jobs.objects[key(job)] = written

"""Whether every Job of Volcano that is left has come as far as it can, in the end."""

from collections.abc import Iterable
from typing import Any

from ..clients import objects
from ..clients.volcano_objects import JOBS
from ..scene import Scene
from .recount import Recount
from .refused_jobs import refused_for_quota
from .stored import Object

_EVENTS = f"/api/v1/namespaces/{objects.NAMESPACE}/events?fieldSelector=reason=FailedCreate"
_ENDED = ("Completed", "Failed", "Aborted", "Terminated")
_ON_THE_WAY = ("Aborting", "Restarting", "Terminating")


async def job_disagreements(scene: Scene, recount: Recount) -> list[str]:
    """What is not as it must be once nothing is on its way any more. Empty is right.

    That what waits would not fit is said of groups and pods, whoever made them.
    """
    jobs, events = await scene.api.get(JOBS), await scene.api.get(_EVENTS)
    if not jobs.ok or not events.ok:
        return ["the API server does not answer about Jobs"]
    return stuck(jobs.body["items"], recount) + refused_for_quota(events.body["items"])


def stuck(jobs: Iterable[Object], recount: Recount) -> list[str]:
    """Jobs that do not go on, although nobody holds them up."""
    found = []
    for job in jobs:
        name, phase = job["metadata"]["name"], _phase(job)
        if phase in _ON_THE_WAY:
            found.append(f"Job {name} is still {phase}")
        elif phase not in _ENDED:
            found += [f"Job {name} {what}" for what in _of_a_running_one(job, recount)]
    return found


def _of_a_running_one(job: Object, recount: Recount) -> list[str]:
    meta = job["metadata"]
    key = f"{recount.namespace}/{meta['name']}-{meta['uid']}"
    group = recount.groups.get(key)
    if group is None:
        return ["has no pod group"]
    if group.waits:
        return []  # it waits to be enqueued: whether it would fit is said of its group
    members = recount.members.get(key, {}).values()
    lacking = sum(int(task.get("replicas", 1)) for task in job["spec"]["tasks"]) - len(members)
    found = [f"lacks {lacking} pods, and is {group.phase}"] if lacking else []
    unbound = [pod.key for pod in members if not (pod.gated or pod.node or pod.finished)]
    return found + ([f"has pods that are let through and not bound: {unbound}"] if unbound else [])


def _phase(job: Any) -> str:
    return str(((job.get("status") or {}).get("state") or {}).get("phase") or "")

"""What a job's controller does next: which pods to create and to delete, which status. Pure."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Final

from ..api_objects import FINISHED, Json, is_deleted, key, now, phase, status, uid
from .job_pods import job_pods, min_available, replicas

ENDING: Final = {"Aborting": "Aborted", "Terminating": "Terminated", "Restarting": "Pending"}
"""A phase in which the pods are ended, and the one after it."""

ENDED: Final = ("Aborted", "Terminated", "Completed", "Failed")
_WAITING: Final = ("", "Pending")
"""Phases of a group for which no pods are created yet."""


@dataclass(frozen=True)
class JobStep:
    """The next step of one job."""

    status: Json
    """What its status should be."""
    create: list[Json] = field(default_factory=list)
    """Pods."""
    delete: list[Json] = field(default_factory=list)
    """Pods."""
    has_group: bool = True
    """Whether there should be a pod group."""


def job_phase(job: Json) -> str:
    """The phase of the job. Empty if nobody has looked at it yet."""
    return str((status(job).get("state") or {}).get("phase") or "")


def next_step(job: Json, group: Json | None, pods: Iterable[Json]) -> JobStep:
    """The step for a job with this group and these pods, all of them the job's own."""
    own = list(pods)
    now_phase = job_phase(job) or "Pending"
    if now_phase in ENDING:
        return _ending(job, now_phase, own)
    if now_phase in ENDED:
        return JobStep(_status(job, now_phase, own), delete=_unfinished(own), has_group=False)
    missing: list[Json] = []
    if group is not None and phase(group) not in _WAITING:
        have = {key(one) for one in own}
        missing = [one for one in job_pods(job).values() if key(one) not in have]
    return JobStep(_status(job, _phase(job, now_phase, own), own), create=missing)


def state(job: Json, wanted: str, reason: str = "") -> Json:
    """The job's status with another phase, and nothing else changed."""
    found = {**status(job), "state": {"phase": wanted, "lastTransitionTime": now()}}
    if reason:
        found["state"]["reason"] = reason
    return found


def _ending(job: Json, now_phase: str, own: list[Json]) -> JobStep:
    # A job that starts again also loses its finished pods.
    going = own if now_phase == "Restarting" else _unfinished(own)
    after = now_phase if going else ENDING[now_phase]
    found = _status(job, after, own)
    if now_phase == "Restarting" and not going:
        found["retryCount"] = int(status(job).get("retryCount", 0)) + 1
        found["version"] = int(status(job).get("version", 0)) + 1
    return JobStep(found, delete=[one for one in going if not is_deleted(one)], has_group=False)


def _phase(job: Json, now_phase: str, own: list[Json]) -> str:
    phases = [phase(one) for one in own if not is_deleted(one) or phase(one) in FINISHED]
    succeeded, failed = phases.count("Succeeded"), phases.count("Failed")
    if replicas(job) and succeeded + failed == replicas(job):
        return "Completed" if succeeded >= min_available(job) else "Failed"
    if phases.count("Running") + succeeded + failed >= min_available(job):
        return "Running"
    return now_phase


def _status(job: Json, wanted: str, own: list[Json]) -> Json:
    found = dict(status(job)) if wanted == job_phase(job) else state(job, wanted)
    counts: Mapping[str, int] = {
        "pending": sum(phase(one) == "Pending" and not is_deleted(one) for one in own),
        "running": sum(phase(one) == "Running" and not is_deleted(one) for one in own),
        "succeeded": sum(phase(one) == "Succeeded" for one in own),
        "failed": sum(phase(one) == "Failed" for one in own),
        "terminating": sum(is_deleted(one) and phase(one) not in FINISHED for one in own),
    }
    found |= counts
    found["minAvailable"] = min_available(job)
    return found


def _unfinished(own: list[Json]) -> list[Json]:
    return [one for one in own if phase(one) not in FINISHED]


def owned_by(job: Json, things: Iterable[Json]) -> list[Json]:
    """Those of the things whose controller is the job."""
    return [
        one
        for one in things
        if any(
            ref.get("controller") and ref.get("uid") == uid(job)
            for ref in one["metadata"].get("ownerReferences") or ()
        )
    ]

"""What must never be beside Volcano, and how far each Job has come in the end.

What Volcano has enqueued of its own was reserved before, where it is known what it is (V3). It ends
a Job of which a pod was refused for too long: so nothing of one is refused here that can become
right. It waits at its gate, also in a queue whose other pods are refused (E5).
"""

from collections.abc import Iterable
from typing import Any

from ..history import Change
from .leeway import Lately
from .recount import Recount
from .stored import Group, Object

VOTED = 20.0
"""Seconds for which a vote may be old when Volcano writes what it has decided by it: it asks about
everybody first, each answer may be waited for, and it may stand still for a while.
"""


class VolcanoEnqueues:
    """Follows the groups of Volcano's Jobs, change by change."""

    def __init__(self, recount: Recount) -> None:
        self._recount = recount
        self._permitted = Lately[tuple[str, str], bool]()
        """By key and uid: whether we permit it, since something is reserved for it or begun."""
        self._jobs_gone: set[str] = set()
        """Names of Jobs that were deleted. Their groups go a moment later, and get no pods."""
        self.seen = 0
        """Groups that were enqueued, and that it was known of what they ask for."""

    def note(self, key: str, at: float) -> None:
        """Something of a group, or of its members, changed."""
        group = self._recount.groups.get(key)
        if group is not None and group.job:
            self._permitted.note((key, group.uid), at, self._is_permitted(group))

    def job(self, name: str, *, gone: bool) -> None:
        """A Job was created, changed or deleted."""
        if gone:
            self._jobs_gone.add(name)
        else:
            self._jobs_gone.discard(name)

    def wrong(self, group: Group, before: Group | None, since: float) -> str:
        """What is wrong with a change of a group; empty: nothing. `since`: the oldest moment by
        which it may have been decided.
        """
        known = group.job and group.job not in self._jobs_gone
        said = self._recount.says(group) if known else {}
        same = before is not None and before.uid == group.uid
        if before is None or not same or not said or not before.waits or group.phase != "Inqueue":
            return ""
        self.seen += 1
        if any(self._permitted.values((group.key, group.uid), since)):
            return ""
        asked = ", ".join(f"{number} of {'|'.join(cards)}" for cards, number in said.items())
        return f"{group.key} is enqueued by Volcano, asks for {asked}, and nothing is reserved"

    def _is_permitted(self, group: Group) -> bool:
        """By what is stored: its reservation, or its pods, whose gates decide."""
        key = group.key
        there = self._recount.there(key) >= max(1, group.minimum)
        return bool(group.reserved_in or there or self._recount.started(key) or group.completed)


_ENDED_FOR_IT = "PodsRefused"
_REFUSED, _BY_US, _FOR_QUOTA = "FailedCreate", "denied the request", "insufficient"


class RefusedJobs:
    """Follows Jobs, change by change."""

    def __init__(self) -> None:
        self._told: set[tuple[str, str]] = set()

    def after(self, change: Change) -> str:
        """What is wrong with this change; empty: nothing. Each Job is told once."""
        if change.kind != "job" or change.object is None:
            return ""
        status, meta = change.object.get("status") or {}, change.object["metadata"]
        found = (change.key, str(meta.get("uid")))
        ended = (status.get("state") or {}).get("reason") == _ENDED_FOR_IT
        if not ended or found in self._told:
            return ""
        self._told.add(found)
        return f"Job {change.key} was ended by Volcano since its pods were refused"


def refused_for_quota(events: Iterable[Object]) -> list[str]:
    """What the events of Jobs say of pods that were refused for want of room."""
    return [
        f"a pod of Job {event['involvedObject']['name']} was refused: {event['message']}"
        for event in events
        if event.get("reason") == _REFUSED and event["involvedObject"].get("kind") == "Job"
        if _BY_US in event.get("message", "") and _FOR_QUOTA in event["message"]
    ]


_ENDED = ("Completed", "Failed", "Aborted", "Terminated")
_ON_THE_WAY = ("Aborting", "Restarting", "Terminating")


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
    return found + ([f"has pods that are released and not bound: {unbound}"] if unbound else [])


def _phase(job: Any) -> str:
    return str(((job.get("status") or {}).get("state") or {}).get("phase") or "")

"""Whole objects as Volcano's Go types hold them: what these do not know is lost on a write."""

from typing import Final

from .api_objects import Json, status

QUEUE_STATUS: Final = (
    "state",
    "unknown",
    "pending",
    "running",
    "inqueue",
    "completed",
    "reservation",
    "allocated",
)
GROUP_SPEC: Final = (
    "minMember",
    "minTaskMember",
    "queue",
    "priorityClassName",
    "minResources",
    "networkTopology",
    "subGroupPolicy",
)
GROUP_STATUS: Final = ("phase", "conditions", "running", "succeeded", "failed")


def queue_with_status(queue: Json, wanted: Json) -> Json:
    """The queue with this status, less what Volcano does not know; `allocated` is never absent."""
    return {**queue, "status": {"allocated": {}, **_only(QUEUE_STATUS, wanted)}}


def group_with_status(group: Json, wanted: Json) -> Json:
    """The pod group with this status, less what Volcano does not know, in its spec too."""
    return {
        **group,
        "spec": _only(GROUP_SPEC, group["spec"]),
        "status": _only(GROUP_STATUS, wanted),
    }


def known_group_status(group: Json) -> Json:
    """The part of a group's status that Volcano knows."""
    return _only(GROUP_STATUS, status(group))


def _only(known: tuple[str, ...], found: Json) -> Json:
    return {one: value for one, value in found.items() if one in known}

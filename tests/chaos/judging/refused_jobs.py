"""Jobs of Volcano whose pods were refused, which must not be for want of room (E5).

Volcano ends a Job of which a pod was refused for too long. So nothing of one is refused here that
can become right: it waits at its gate, also in a queue whose other pods are refused.
"""

from collections.abc import Iterable

from ..history import Change
from .stored import Object

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

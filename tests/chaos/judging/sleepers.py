"""Workloads that lack pods since a refusal, although there is room: nobody has woken them."""

from collections.abc import Iterable

from .recount import Recount
from .stored import NAME, QUEUE, Object


def asleep(recount: Recount, replica_sets: Iterable[Object]) -> list[str]:
    """ReplicaSets whose next pod would fit its queue now, in words. Those that ask for one card."""
    found = []
    for thing in replica_sets:
        spec, status = thing["spec"], thing.get("status") or {}
        notes = spec["template"]["metadata"].get("annotations") or {}
        queue, card = notes.get(QUEUE, ""), notes.get(NAME, "")
        lacks = int(spec.get("replicas") or 0) - int(status.get("replicas") or 0)
        if lacks > 0 and recount.quota.get(queue, {}).get(card) and recount.room((queue, card)) > 0:
            name = thing["metadata"]["name"]
            found.append(f"{name} lacks {lacks} pods in {queue}, and one would fit")
    return found

"""Whether each pod that waits has an event, of its queue and its cards (I4). Other numbers of
an event are those of when it was written, and are not judged.
"""

import re
from collections.abc import Iterable
from datetime import datetime

from .recount import Recount
from .stored import Object, StoredPod

RENEWED = 4.0
"""The product's `events.renewAfter` in all runs, in seconds."""
_OURS = "cardquota"
_LACKS = re.compile(r"Queue <([^>]*)> has insufficient <([^>]*)> quota: requested <(\d+)>, ")


def pending_notices(recount: Recount, events: Iterable[Object]) -> list[str]:
    """What is wrong with the events of those who wait, in words."""
    latest: dict[str, Object] = {}
    for event in events:
        uid = event["involvedObject"].get("uid", "")
        if event.get("reportingComponent") == _OURS and event["type"] == "Warning":
            before = latest.get(uid)
            if before is None or _at(before) <= _at(event):
                latest[uid] = event
    found = []
    for queue in recount.quota:
        for pod in recount.waiting(queue):
            group = recount.groups.get(pod.group)
            uids = (pod.uid, group.uid if group is not None else "")
            its = [latest[uid] for uid in uids if uid in latest]
            wrong = _wrong(recount, queue, pod, max(its, key=_at)) if its else "has no event"
            if wrong:
                found.append(f"{pod.key} waits in {queue} and {wrong}")
    return found


def _wrong(recount: Recount, queue: str, pod: StoredPod, event: Object) -> str:
    for named, _, asked in _LACKS.findall(event["message"]):
        alone = event["involvedObject"].get("uid") == pod.uid and pod.group not in recount.groups
        if named != queue:
            return f"its event names Queue {named}"
        if alone and int(asked) != pod.amount:
            return f"its event says that it asks for {asked}, not {pod.amount}"
    return ""


def _at(event: Object) -> float:
    text = event.get("lastTimestamp") or event["metadata"].get("creationTimestamp") or ""
    return datetime.fromisoformat(text).timestamp()

"""Whether each pod that waits has an event, which is young enough, and names the quota of now and
what is held now. That changes all the time, and is told when an event is written again: so it is
right only once nothing has changed for that long.
"""

import re
from collections.abc import Iterable
from datetime import datetime

from .answered import HELD, refusal_wrong
from .recount import Recount
from .stored import Object, StoredPod

RENEWED = 10.0
"""The product's `events.renewAfter` in all runs, in seconds."""
LATE = 10.0
"""Seconds that a renewal may take after its time has come: others have turns before it."""
_OURS = "cardquota"
_LACKS = re.compile(
    r"Queue <([^>]*)> has insufficient <([^>]*)> quota: requested <(\d+)>, "
    r"total would be <\d+>, but capability is <(\d+)>"
)


def untold(recount: Recount, events: Iterable[Object], now: float) -> list[str]:
    """What is wrong with the events of those who wait, in words. `now`: seconds since 1970."""
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
            wrong = _wrong(recount, queue, pod, max(its, key=_at), now) if its else "has no event"
            if wrong:
                found.append(f"{pod.key} waits in {queue} and {wrong}")
    return found


def _wrong(recount: Recount, queue: str, pod: StoredPod, event: Object, now: float) -> str:
    if now - _at(event) > RENEWED + LATE:
        return f"its event was not written for {RENEWED + LATE:g} s"
    if recount.lent.get(queue):
        return ""  # the sentence has what is lent, too
    lacked = _LACKS.findall(event["message"])
    for named, card, asked, most in lacked:
        quota = recount.quota[queue].get(card, 0)
        alone = event["involvedObject"].get("uid") == pod.uid and pod.group not in recount.groups
        if named != queue:
            return f"its event names Queue {named}"
        if int(most) != quota:
            return f"its event says that the quota of {card} is {most}, not {quota}"
        if alone and int(asked) != pod.amount:
            return f"its event says that it asks for {asked}, not {pod.amount}"
    if len(lacked) == 1 and HELD.search(event["message"]):
        card = lacked[0][1]
        without = pod.group if pod.group in recount.groups else ""
        return refusal_wrong((queue, card), event["message"], recount, without=without)
    return ""


def _at(event: Object) -> float:
    text = event.get("lastTimestamp") or event["metadata"].get("creationTimestamp") or ""
    return datetime.fromisoformat(text).timestamp()

"""What is said of who waits and who holds, in status, metrics, answers, refusals and events,
against a recount.
"""

import json
import re
from collections import Counter
from collections.abc import Iterable, Mapping
from datetime import datetime

from .recount import Recount
from .stored import Object, QueuePosition, StoredPod

_STATUS = "volcano.sh/card.status"
_GATED = re.compile(r'^cardquota_gated_pods\{queue="([^"]+)"\} (\S+)$', re.MULTILINE)
_WAITING = re.compile(
    r'^cardquota_waiting_pods\{queue="([^"]+)",reason="[^"]+"\} (\S+)$', re.MULTILINE
)
HELD = re.compile(r"; held(?: by|:) ([^;]*)$")
_AMOUNT = re.compile(r"(\d+) in other namespaces|(\d+) reserved for pod groups|.* (\d+)")


def waiting_wrong(who: str, theirs: Mapping[str, int], recount: Recount) -> list[str]:
    """How many pods wait in each queue, as somebody says."""
    return [
        f"{who}: {theirs.get(queue, 0)} pods wait in {queue}, the recount says {number}"
        for queue in recount.quota
        if theirs.get(queue, 0) != (number := len(recount.waiting(queue)))
    ]


def gated_pods(page: str) -> dict[str, int]:
    """By a replica's metrics, on whichever replica."""
    return {queue: int(float(number)) for queue, number in _GATED.findall(page)}


def waiting_pods(page: str) -> dict[str, int]:
    """By the leader's metrics, which have them by reason."""
    found = Counter[str]()
    for queue, number in _WAITING.findall(page):
        found[queue] += int(float(number))
    return found


def status_wrong(queues: Iterable[Object], recount: Recount) -> list[str]:
    """What the queues' status says of who waits: how many, and since when the first does."""
    numbers, found = {}, []
    for thing in queues:
        name, notes = thing["metadata"]["name"], thing["metadata"].get("annotations") or {}
        status = {**json.loads(notes.get(_STATUS, "{}")), **(thing.get("status") or {})}
        waiting = status.get("waiting") or {}
        numbers[name] = int(waiting.get("pods") or 0)
        if name in recount.quota:
            oldest = min((pod.created for pod in recount.waiting(name)), default="nobody")
            said = waiting.get("oldest") or "nobody"
            if said != oldest:
                found.append(f"Queue status: {said} waits longest in {name}, not {oldest}")
    return waiting_wrong("Queue status", numbers, recount) + found


def answer_wrong(queue: str, answer: Object, recount: Recount) -> list[str]:
    """What a QueueReview of a queue says: its cards, who holds them, and how many wait."""
    waiting, found = len(recount.waiting(queue)), []
    if answer["waitingPods"] != waiting:
        found.append(f"answer: {answer['waitingPods']} pods wait in {queue}, not {waiting}")
    there = [pod for pod in recount.pods.values() if not pod.gated and not pod.finished]
    pods = sum((pod.charged_queue or recount.queue_of(pod)) == queue for pod in there)
    if answer["heldPods"] != pods:
        found.append(f"answer: {answer['heldPods']} pods hold something in {queue}, not {pods}")
    held, bound = Counter[str](), Counter[str]()
    for pod in there:
        charge = {card: n for (where, card), n in pod.charge.items() if where == queue}
        held.update(charge)
        if pod.node:
            bound.update(charge)
    by_holders = Counter[str]()
    for holder in answer["holders"]:
        for one in holder["cards"]:
            by_holders[one["name"]] += one["amount"]
    for row in answer["cards"]:
        place = queue, row["name"]
        together = held[row["name"]] + recount.reserved(place)
        expected = bound[row["name"]], together - bound[row["name"]]
        if (row["allocated"], row["inqueue"]) != expected:
            both = row["allocated"], row["inqueue"]
            found.append(f"answer: {place} allocated, inqueue {both}, the recount {expected}")
        if not answer["moreHolders"] and by_holders[row["name"]] != together:
            said = by_holders[row["name"]]
            found.append(f"answer: {place} is held by those who hold {said}, not {together}")
    return found


def refusal_wrong(place: QueuePosition, text: str, recount: Recount, *, without: str = "") -> str:
    """What a refusal, or an event, says of who holds a card, which ends it. Empty: it is right, or
    does not say how much that is. `without`: the group whose reservation is its own.
    """
    own = recount.groups.get(without)
    ours = recount.outstanding(own).get(place, 0) if own is not None else 0
    expected = recount.held[place] + recount.reserved(place) - ours
    said = held_by(text)
    if said is None or said == expected:
        return ""
    return f"is told that {said} of {place} is held, the recount says {expected}"


def held_by(text: str) -> int | None:
    """How many cards those hold whom a refusal names, all together. None: it does not say."""
    found = HELD.search(text)
    if found is None:
        return 0 if "has insufficient" in text and "; held" not in text else None
    total = 0
    for part in re.split(r", and |, | and ", found[1]):
        one = _AMOUNT.fullmatch(part)
        if one is None:
            return None  # what pods may hold that have a choice of cards
        total += int(next(number for number in one.groups() if number))
    return total


RENEWED = 4.0
"""The product's `events.renewAfter` in all runs, in seconds."""
_OURS = "cardquota"
_LACKS = re.compile(r"Queue <([^>]*)> has insufficient <([^>]*)> quota: requested <(\d+)>, ")


def pending_notices(recount: Recount, events: Iterable[Object]) -> list[str]:
    """What is wrong with the events of those who wait (I4), in words: each has one, of its queue
    and its cards. Other numbers are those of when it was written, and are not judged.
    """
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

"""The totals, recounted from pods and groups, on purpose with other code than the operator's."""

import json
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from cardquota.quota import vocabulary as v

Objects = Iterable[Mapping[str, Any]]


@dataclass(frozen=True)
class Counted:
    """Cards of one model in one queue."""

    requested: int
    allocated: int
    inqueue: int


def recount(pods: Objects, groups: Objects, queues: Objects) -> dict[tuple[str, str], Counted]:
    """By queue and card, for each row of the queues' status."""
    groups = list(groups)
    queue_of_group = {
        (one["metadata"]["namespace"], one["metadata"]["name"]): one["spec"]["queue"]
        for one in groups
    }
    rows = [(queue["metadata"]["name"], row) for queue in queues for row in _cards(queue)]
    resources = {row["name"]: row["resource"] for _, row in rows}
    requested, allocated, inqueue = (Counter[tuple[str, str]]() for _ in range(3))
    by_group: dict[tuple[str, str], Counter[tuple[str, str]]] = defaultdict(Counter)
    for pod in pods:
        if pod["status"]["phase"] in ("Succeeded", "Failed"):
            continue
        queue = _queue(pod, queue_of_group)
        for card, amount in _asked(pod, resources).items():
            requested[queue, card] += amount
            if not waits(pod):
                by_group[_group(pod)][queue, card] += amount
            if "nodeName" in pod["spec"]:
                allocated[queue, card] += amount
            elif not waits(pod):
                inqueue[queue, card] += amount
    for group in groups:
        held = by_group[group["metadata"]["namespace"], group["metadata"]["name"]]
        for key, amount in _reserved(group).items():
            inqueue[key] += max(0, amount - held[key])
    keys = [(queue, row["name"]) for queue, row in rows]
    return {key: Counted(requested[key], allocated[key], inqueue[key]) for key in keys}


def written(queues: Objects) -> dict[tuple[str, str], Counted]:
    """The same numbers as the operator wrote them."""
    return {
        (queue["metadata"]["name"], row["name"]): Counted(
            row["requested"], row["allocated"], row["inqueue"]
        )
        for queue in queues
        for row in _cards(queue)
    }


def waits(pod: Mapping[str, Any]) -> bool:
    """Whether the pod is at the gate."""
    return any(gate["name"] == v.GATE for gate in pod["spec"].get("schedulingGates", ()))


def _cards(queue: Mapping[str, Any]) -> list[dict[str, Any]]:
    return list(queue.get("status", {}).get("cards", ()))


def _group(pod: Mapping[str, Any]) -> tuple[str, str]:
    meta = pod["metadata"]
    return str(meta["namespace"]), str(meta.get("annotations", {}).get(v.GROUP_NAME, ""))


def _reserved(group: Mapping[str, Any]) -> dict[tuple[str, str], int]:
    """What is reserved for a group, its members' part included."""
    text = group["metadata"].get("annotations", {}).get(v.RESERVATION)
    found = json.loads(text) if text else {"cards": {}}
    return {(found["queue"], card): int(amount) for card, amount in found["cards"].items()}


def _queue(pod: Mapping[str, Any], groups: Mapping[tuple[str, str], str]) -> str:
    notes = pod["metadata"].get("annotations", {})
    group = groups.get(_group(pod))
    return str(notes.get(v.CHARGED_QUEUE) or group or notes.get(v.QUEUE_NAME, ""))


def _asked(pod: Mapping[str, Any], resources: Mapping[str, str]) -> dict[str, int]:
    """What the pod is charged, or, while it waits, the sum of its one card model."""
    notes = pod["metadata"].get("annotations", {})
    if v.ALLOCATED in notes:
        return {str(card): int(amount) for card, amount in json.loads(notes[v.ALLOCATED]).items()}
    card = notes.get(v.CARD_NAME)
    if card not in resources:
        return {}
    limits = (one.get("resources", {}).get("limits", {}) for one in pod["spec"]["containers"])
    return {card: sum(int(one.get(resources[card], 0)) for one in limits)}

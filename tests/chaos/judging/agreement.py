"""Whether all count the same in the end: every replica, every Queue's status, the recount."""

import json
import re
from collections import Counter
from collections.abc import Mapping
from typing import Any

from ..clients import objects
from ..clients.volcano_objects import JOBS
from ..scene import REPLICAS, Scene
from .answered import (
    answer_wrong,
    gated_pods,
    pending_notices,
    refusal_wrong,
    status_wrong,
    waiting_pods,
    waiting_wrong,
)
from .fitting import asleep, fitting, may_stay
from .memory_agreement import memory_disagreements
from .recount import Recount
from .stored import QueuePosition
from .volcano_judge import refused_for_quota, stuck

Totals = dict[QueuePosition, tuple[int, int, int]]
"""Allocated, inqueue and elastic, where one is not zero."""

_ROW = re.compile(
    r'^cardquota_queue_card_(\w+)\{card="([^"]+)",queue="([^"]+)"\} (\S+)$', re.MULTILINE
)
_STATUS = "volcano.sh/card.status"
_EVENTS = f"/api/v1/namespaces/{objects.NAMESPACE}/events"
_REFUSALS = f"{_EVENTS}?fieldSelector=reason=FailedCreate"
_QUEUE_REVIEWS = "/apis/cardquota.volcano.sh/v1alpha1/queuereviews?dryRun=All"
_LIMIT = 200
"""Holders that an answer names, at most."""
_DRIFT = re.compile(r"^cardquota_ledger_drift (\S+)$", re.MULTILINE)


async def disagreements(scene: Scene) -> list[str]:
    """What is not as it must be once nothing is on its way any more. Empty is right."""
    recount = await _stored(scene)
    if recount is None:
        return ["the API server does not answer"]
    found = []
    for queue in recount.quota:
        found += [f"{thing} waits in {queue}, and would fit" for thing in fitting(recount, queue)]
    for key, group in recount.groups.items():
        if group.reserved_in and not may_stay(recount, group):
            # Each gang is through with it, or its time is over: nobody begins any more.
            found.append(f"{key} still reserves {group.reserved}")
    replica_sets = await scene.api.get(objects.REPLICA_SETS)
    found += asleep(recount, replica_sets.body.get("items", ()))
    expected, leader = totals(recount), await scene.leader()
    for replica in range(REPLICAS):
        page = await scene.page(replica)
        found += _differences(f"replica {replica}", of_metrics(page), expected)
        drift = _DRIFT.search(page)
        if drift is None or float(drift[1]) != 0:
            found.append(f"replica {replica} reports drift {drift and drift[1]}")
        found += waiting_wrong(f"replica {replica}", gated_pods(page), recount)
        if replica == leader:
            found += waiting_wrong("the leader, by reason", waiting_pods(page), recount)
    queues = await scene.api.get(objects.QUEUE_PATH)
    status = of_status(queues.body.get("items", ()))
    found += _differences("Queue status", status, expected)
    found += status_wrong(queues.body.get("items", ()), recount)
    events = await scene.api.get(_EVENTS)
    found += pending_notices(recount, events.body.get("items", ()))
    if scene.volcano is not None:
        return found + await _of_jobs(scene, recount)
    found += await _answers(scene, recount)
    return found + await memory_disagreements(scene)


def totals(recount: Recount) -> Totals:
    """By the recount."""
    bound: Counter[QueuePosition] = Counter()
    for pod in recount.pods.values():
        if pod.node:
            bound.update(pod.charge)
    places = {(queue, card) for queue, quota in recount.quota.items() for card in quota}
    elastic = {queue: recount.elastic(queue) for queue in recount.quota}
    every = {
        (queue, card): (
            bound[queue, card],
            recount.held[queue, card] - bound[queue, card] + recount.reserved((queue, card)),
            elastic[queue].get(card, 0),
        )
        for queue, card in places
    }
    return {place: found for place, found in every.items() if any(found)}


def of_metrics(page: str) -> Totals:
    """By a replica."""
    rows: dict[QueuePosition, dict[str, int]] = {}
    for total, card, queue, value in _ROW.findall(page):
        rows.setdefault((queue, card), {})[total] = int(float(value))
    return _totals(rows)


def of_status(queues: Any) -> Totals:
    """By the status of Queues, or, beside Volcano, the annotation that has the same (T6)."""
    rows = {
        (queue["metadata"]["name"], row["name"]): row
        for queue in queues
        for row in (
            *queue.get("status", {}).get("cards", ()),
            *json.loads((queue["metadata"].get("annotations") or {}).get(_STATUS, "{}")).get(
                "cards", ()
            ),
        )
    }
    return _totals(rows)


def _totals(rows: Mapping[QueuePosition, Mapping[str, Any]]) -> Totals:
    every = {
        place: (
            int(row.get("allocated", 0)),
            int(row.get("inqueue", 0)),
            int(row.get("elastic", 0)),
        )
        for place, row in rows.items()
    }
    return {place: found for place, found in every.items() if any(found)}


def _differences(who: str, theirs: Totals, expected: Totals) -> list[str]:
    return [
        f"{who} says {place} allocated, inqueue, elastic {theirs.get(place, (0, 0, 0))},"
        f" the recount {expected.get(place, (0, 0, 0))}"
        for place in sorted(theirs.keys() | expected.keys())
        if theirs.get(place) != expected.get(place)
    ]


async def _of_jobs(scene: Scene, recount: Recount) -> list[str]:
    """What is not as it must be once nothing is on its way any more. Empty is right.

    That what waits would not fit is said of groups and pods, whoever made them.
    """
    jobs, events = await scene.api.get(JOBS), await scene.api.get(_REFUSALS)
    if not jobs.ok or not events.ok:
        return ["the API server does not answer about Jobs"]
    return stuck(jobs.body["items"], recount) + refused_for_quota(events.body["items"])


async def _answers(scene: Scene, recount: Recount) -> list[str]:
    """What is wrong in what is said to whoever asks about a queue, and to whom it refuses."""
    found = []
    for queue in recount.quota:
        reply = await scene.api.create(_QUEUE_REVIEWS, _question(queue))
        if not reply.ok:
            found.append(f"asked about {queue}: {reply.code} {reply.message}")
            continue
        found += answer_wrong(queue, reply.status, recount)
        for card, quota in recount.quota[queue].items():
            if quota and recount.policy[queue] == "Deny" and not recount.lent.get(queue):
                # As much as may ever be had: refused while anything is held, for that.
                pod = objects.pod("asks-who-holds", "nobody", queue, card, quota)
                refused = await scene.api.create(f"{objects.PODS}?dryRun=All", pod)
                what = refusal_wrong((queue, card), refused.message, recount)
                found += [f"who asks for all of a card {what}"] if what else []
    return found


def _question(queue: str) -> dict[str, Any]:
    return {
        "apiVersion": "cardquota.volcano.sh/v1alpha1",
        "kind": "QueueReview",
        "metadata": {"generateName": "ask-"},
        "spec": {"queue": queue, "limit": _LIMIT},
    }


async def _stored(scene: Scene) -> Recount | None:
    """A recount of what is stored now. It does not say which groups have lost their place: any that
    has no pods may have.
    """
    recount = Recount(objects.NAMESPACE, objects.CARD_OF_NODE, volcano=scene.volcano is not None)
    paths = {"queue": objects.QUEUE_PATH, "group": objects.GROUPS, "pod": objects.PODS}
    for kind, path in paths.items():
        reply = await scene.api.get(path)
        if not reply.ok:
            return None
        for thing in reply.body["items"]:
            recount.apply(kind, thing["metadata"]["name"], thing)
    for group in recount.groups.values():
        group.lost = True
    return recount

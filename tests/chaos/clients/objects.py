"""What the clients ask for: nodes, queues and pods, as plain objects."""

import json
from collections.abc import Mapping
from typing import Any

Object = dict[str, Any]

NAMESPACE = "chaos"
A, B, C, D = "NVIDIA-T1000", "NVIDIA-T2000", "NVIDIA-T3000", "NVIDIA-T4000"
_PLAIN = {f"chaos-{number}": (A, B)[number % 2] for number in range(4)}
CARD_OF_NODE = {**_PLAIN, "both-0": C, "both-1": C, "few-0": D}
"""The two before the last share their cards as well; the last has few."""
QueueTerms = tuple[str, dict[str, int]]
"""A queue's policy and quota."""
QUEUES: dict[str, QueueTerms] = {
    "train": ("Gate", {A: 40, B: 20}),
    "serve": ("Deny", {A: 8, B: 6}),
    "gangs": ("Gate", {A: 12, B: 6}),
    "spare": ("Gate", {A: 5, B: 4}),
    "steady": ("Gate", {A: 6}),
    "shared": ("Gate", {C: 3}),
    "roll": ("Deny", {A: 6}),
    "sleep": ("Deny", {A: 1, B: 1}),
}
"""Their policies and quotas: much less than is asked for, so that somebody always waits."""

CARDS = 4
"""Those of the last node."""
BORROWS, OWED = "borrows", "owed"
RANKS = "ranks"
LENDING_QUEUES: dict[str, QueueTerms] = {
    BORROWS: ("Gate", {D: CARDS}),
    OWED: ("Gate", {D: 2}),
    RANKS: ("Gate", {A: 2}),
}
"""Of four cards each deserves two: the first may hold four while the second holds none. In the last
who has a higher priority takes a card from one of two.
"""
LENT = {"roll": "2"}
"""What rolling updates may borrow of each card."""

PODS = f"/api/v1/namespaces/{NAMESPACE}/pods"
GROUPS = f"/apis/scheduling.volcano.sh/v1beta1/namespaces/{NAMESPACE}/podgroups"
QUEUE_PATH = "/apis/scheduling.volcano.sh/v1beta1/queues"
DEPLOYMENTS = f"/apis/apps/v1/namespaces/{NAMESPACE}/deployments"
REPLICA_SETS = f"/apis/apps/v1/namespaces/{NAMESPACE}/replicasets"
PRIORITIES = "/apis/scheduling.k8s.io/v1/priorityclasses"
URGENT, SUPERIOR = "chaos-urgent", "chaos-superior"
NOWHERE = "nowhere"
"""Where no node is."""

_QUEUE = "scheduling.volcano.sh/queue-name"
_QUOTA = "volcano.sh/card.quota"
_SURGE = "volcano.sh/card.surge"
_CARD = "volcano.sh/card.name"
_REQUEST = "volcano.sh/card.request"
_GROUP = "scheduling.k8s.io/group-name"
_RUN = "cardquota.dev/run-seconds"
_RESOURCE = "nvidia.com/gpu"


def node(name: str, card: str) -> Object:
    """With far more cards than the quotas: what holds a pod up is never the scheduler. Of the card
    that is lent there are few.
    """
    cards = str(CARDS) if card == D else "2000"
    amounts = {"cpu": "4000", "memory": "4000Gi", "pods": "2000", _RESOURCE: cards}
    labels = {
        "kubernetes.io/hostname": name,
        f"{_RESOURCE}.product": card,
        f"{_RESOURCE}.memory": "143771",
        f"{_RESOURCE}.count": "8",
    }
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": name, "labels": labels},
        "status": {"capacity": amounts, "allocatable": amounts},
    }


def queue(name: str, queues: Mapping[str, QueueTerms] = QUEUES) -> Object:
    """With its policy and quota."""
    policy, quota = queues[name]
    notes = {_QUOTA: json.dumps(quota), "volcano.sh/card.policy": policy}
    if name in LENT:
        notes[_SURGE] = LENT[name]
    return {
        "apiVersion": "scheduling.volcano.sh/v1beta1",
        "kind": "Queue",
        "metadata": {"name": name, "annotations": notes},
        "spec": {},
    }


def priority_class(name: str, preempts: str) -> Object:
    """Who has it goes before all others that wait."""
    return {
        "apiVersion": "scheduling.k8s.io/v1",
        "kind": "PriorityClass",
        "metadata": {"name": name},
        "value": 1000,
        "preemptionPolicy": preempts,
    }


def pod(
    name: str,
    owner: str,
    queue_name: str,
    cards: str,
    amount: int,
    *,
    seconds: int = 0,
    group: str = "",
    priority: str = "",
    where: str = "",
) -> Object:
    """A pod of a client; with `seconds` it ends by itself. Without a queue it has its group's.

    `where`: the value of a label that its node must have.
    """
    notes = {_QUEUE: queue_name} if queue_name else {}
    if cards:
        notes[_CARD] = cards
    if seconds:
        notes[_RUN] = str(seconds)
    if group:
        notes[_GROUP] = group
    metadata = {"name": name, "labels": {"client": owner}, "annotations": notes}
    spec: Object = {
        "containers": [container(amount)],
        "terminationGracePeriodSeconds": 1,
    }
    if priority:
        spec["priorityClassName"] = priority
    if where:
        spec["nodeSelector"] = {"cardquota.dev/where": where}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec}


def group(
    name: str,
    owner: str,
    queue_name: str,
    minimum: int,
    *,
    priority: str = "",
    asks: Mapping[str, int] | None = None,
) -> Object:
    """A gang. `asks`: what it says that its minimum will ask for, before its pods are there."""
    spec: Object = {"queue": queue_name, "minMember": minimum}
    if priority:
        spec["priorityClassName"] = priority
    metadata: Object = {"name": name, "labels": {"client": owner}}
    if asks:
        metadata |= asking(asks)["metadata"]
    return {
        "apiVersion": "scheduling.volcano.sh/v1beta1",
        "kind": "PodGroup",
        "metadata": metadata,
        "spec": spec,
    }


def _template(name: str, queue_name: str, card: str, scheduler: str = "") -> Object:
    spec: Object = {"containers": [container(1)], "terminationGracePeriodSeconds": 1}
    if scheduler:
        spec["schedulerName"] = scheduler
    return {
        "metadata": {
            "labels": {"app": name, "client": name},
            "annotations": {_QUEUE: queue_name, _CARD: card},
        },
        "spec": spec,
    }


def replica_set(name: str, queue_name: str, card: str) -> Object:
    """One pod, of nobody's Deployment."""
    template = _template(name, queue_name, card)
    return {
        "apiVersion": "apps/v1",
        "kind": "ReplicaSet",
        "metadata": {"name": name},
        "spec": {"replicas": 1, "selector": {"matchLabels": {"app": name}}, "template": template},
    }


def another_template(version: str) -> Object:
    """A change of a Deployment's template."""
    metadata = {"annotations": {"version": version}}
    return {"spec": {"template": {"metadata": metadata}}}


def deployment(
    name: str,
    queue_name: str,
    card: str,
    *,
    replicas: int = 0,
    surge: bool = False,
    scheduler: str = "",
) -> Object:
    """A service that is scaled. `surge`: when it is updated, new pods come before old ones go.
    `scheduler`: who binds its pods; empty: kube-scheduler.
    """
    template = _template(name, queue_name, card, scheduler)
    way: Object = {"type": "RollingUpdate"}
    if surge:
        way["rollingUpdate"] = {"maxSurge": 1, "maxUnavailable": 0}
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": name},
        "spec": {
            "replicas": replicas,
            "selector": {"matchLabels": {"app": name}},
            "template": template,
            "strategy": way,
        },
    }


def naming(cards: str) -> Object:
    """A change of the cards that a pod names."""
    return {"metadata": {"annotations": {_CARD: cards}}}


def asking(asks: Mapping[str, int]) -> Object:
    """A change of what a group says that it will ask for."""
    return {"metadata": {"annotations": {_REQUEST: json.dumps(asks)}}}


def allowing(quota: Mapping[str, int]) -> Object:
    """A change of a queue's quota."""
    return {"metadata": {"annotations": {_QUOTA: json.dumps(quota)}}}


def container(amount: int) -> Object:
    """The one of a pod that asks for so many cards."""
    limits = {"cpu": "1", **({_RESOURCE: amount} if amount else {})}
    resources = {"limits": limits, "requests": {"cpu": "100m"}}
    return {"name": "main", "image": "none", "resources": resources}

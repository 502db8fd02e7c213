"""Objects that nobody should ever write, a few of each kind that the operator watches."""

import json
from dataclasses import dataclass
from typing import Any

from builders import GPU
from cardquota.quota import vocabulary as v

from .asking import Object
from .roomy_nodes import T1000

LARGEST = 2**63 - 1
LONG = "x" * 200_000
"""A good part of what the API server takes as annotations."""
PRODUCT = f"{GPU}.product"


NOTHING: Object = {"name": "c", "image": "i"}
"""A container that asks for nothing."""


@dataclass(frozen=True)
class Poison:
    """What is written, and whether the API server or we are expected to take it."""

    kind: str
    what: str
    body: Object
    taken: bool = True
    """False: it is refused with a reason."""

    def __str__(self) -> str:
        return f"{self.kind}: {self.what}"


def pod(what: str, *, taken: bool = True, spec: Object | None = None, **notes: str) -> Poison:
    keys = {"queue": v.QUEUE_NAME, "card": v.CARD_NAME, "group": v.GROUP_NAME}
    annotations = {keys[key]: value for key, value in notes.items()}
    body = {
        "metadata": {"annotations": annotations},
        "spec": {"containers": [asking(1)], **(spec or {})},
    }
    return Poison("pods", what, body, taken)


def asking(amount: Any, resource: str = GPU) -> Object:
    return {"name": "c", "image": "i", "resources": {"limits": {resource: amount}}}


def sidecars(amounts: Object) -> list[Object]:
    """Two restartable init containers."""
    plain = {"image": "i", "restartPolicy": "Always", "resources": {"limits": amounts}}
    return [{**plain, "name": name} for name in ("one", "two")]


def node(what: str, labels: Object, allocatable: Object) -> Poison:
    amounts = {"pods": "10", **allocatable}
    status = {"capacity": amounts, "allocatable": amounts}
    return Poison("nodes", what, {"metadata": {"labels": labels}, "status": status})


def noted(kind: str, what: str, notes: Object, spec: Object, *, taken: bool = True) -> Poison:
    return Poison(kind, what, {"metadata": {"annotations": notes}, "spec": spec}, taken)


POISON = [
    pod("200 alternatives", queue="?", card="|".join(f"A{n}" for n in range(200)), taken=False),
    pod("alternatives that are none", queue="?", card="|||", taken=False),
    pod("a card of 200 kB", queue="?", card=LONG, taken=False),
    pod(
        "more than 64 bits hold",
        queue="?",
        card=T1000,
        spec={"containers": [asking("10E")]},
        taken=False,
    ),
    pod(
        "the most that 64 bits hold",
        queue="?",
        card=T1000,
        spec={"containers": [asking(LARGEST)]},
        taken=False,
    ),
    pod(
        "sidecars that are 2^64 together",
        queue="?",
        card=T1000,
        spec={"initContainers": sidecars({GPU: LARGEST}), "containers": [NOTHING]},
        taken=False,
    ),
    pod(
        "sidecars whose memory is 2^64 together",
        queue="?",
        spec={"initContainers": sidecars({"memory": LARGEST}), "containers": [NOTHING]},
    ),
    pod(
        "an init container larger than all others",
        queue="?",
        card=T1000,
        spec={"initContainers": [{**asking(9), "name": "first"}]},
        taken=False,
    ),
    pod(
        "requests without limits",
        queue="?",
        card=T1000,
        spec={"containers": [{**NOTHING, "resources": {"requests": {GPU: 1}}}]},
        taken=False,
    ),
    pod(
        "two card resources",
        queue="?",
        spec={"containers": [asking(1), {**asking(1, f"{GPU}.shared"), "name": "d"}]},
        taken=False,
    ),
    pod("a resource without a card", queue="?", spec={"containers": [asking(99)]}, taken=False),
    pod(
        "a card without a resource",
        queue="?",
        card=T1000,
        spec={"containers": [NOTHING]},
        taken=False,
    ),
    pod("a card of a name with spaces", queue="?", card="NVIDIA T1000", taken=False),
    pod("a group of another namespace", group="kube-system/group", card=T1000, taken=False),
    pod("a queue that is no name", queue="../../etc\n", card=T1000, taken=False),
    pod("a group that is no name", group="../secrets/\u0000", card=T1000, taken=False),
    pod(
        "a selector by everything",
        taken=False,
        queue="?",
        spec={
            "containers": [asking(1)],
            "affinity": {
                "nodeAffinity": {
                    "requiredDuringSchedulingIgnoredDuringExecution": {
                        "nodeSelectorTerms": [
                            {
                                "matchExpressions": [
                                    {
                                        "key": PRODUCT,
                                        "operator": "NotIn",
                                        "values": [f"A{n}" for n in range(500)],
                                    },
                                    {"key": f"{GPU}.memory", "operator": "Gt", "values": ["0"]},
                                ]
                            }
                        ]
                        * 20,
                    }
                }
            },
        },
    ),
    pod(
        "100 containers",
        queue="?",
        card=T1000,
        spec={
            "containers": [{**asking(1), "name": f"c{n}"} for n in range(100)],
        },
        taken=False,
    ),
    node(
        "the most that 64 bits hold",
        {PRODUCT: "Poison", f"{GPU}.memory": str(LARGEST)},
        {GPU: LARGEST},
    ),
    node(
        "labels that are no numbers",
        {
            PRODUCT: T1000,
            f"{GPU}.memory": "lots",
            f"{GPU}.replicas": "1e9",
            f"{GPU}.count": "x",
            f"{GPU}.sharing-strategy": "mps",
        },
        {GPU: "3", f"{GPU}.shared": "7", "nvidia.com/mig-": "1", "nvidia.com/mig-9g.999gb": "9"},
    ),
    node(
        "more than a float holds, and a count that disagrees",
        {PRODUCT: "Poison-2", f"{GPU}.memory": "1", f"{GPU}.count": "3"},
        {GPU: 2**53 + 1},
    ),
    node(
        "shares of which there are none",
        {PRODUCT: T1000, f"{GPU}.memory": "143771", f"{GPU}.replicas": "0"},
        {f"{GPU}.shared": "7"},
    ),
    node(
        "slices of another product",
        {PRODUCT: T1000, f"{GPU}.memory": "143771"},
        {"nvidia.com/mig-7g.141gb": "7"},
    ),
    node(
        "a card that others count by another resource",
        {"amd.com/gpu.product": T1000, "amd.com/gpu.memory": "143771"},
        {"amd.com/gpu": "4000"},
    ),
    node(
        "a product of one type and the memory of another",
        {"huawei.com/Ascend310P.product": "P", "huawei.com/Ascend910.memory": "1"},
        {"huawei.com/Ascend310P": "4"},
    ),
    node(
        "two products",
        {PRODUCT: "A", "amd.com/gpu.product": "A", "x.com/gpu.product": "A"},
        {GPU: "1", "amd.com/gpu": "1", "x.com/gpu": "1"},
    ),
    noted("queues", "a quota that is none", {v.QUOTA: "[]"}, {}, taken=False),
    noted(
        "queues", "a quota beyond 64 bits", {v.QUOTA: json.dumps({T1000: 2**80})}, {}, taken=False
    ),
    noted("queues", "a quota of 200 kB", {v.QUOTA: LONG}, {}, taken=False),
    noted("queues", "1,000 cards", {v.QUOTA: json.dumps({f"A{n}": n for n in range(1_000)})}, {}),
    noted("queues", "its own parent", {v.QUOTA: "{}"}, {"parent": "itself"}, taken=False),
    noted(
        "podgroups", "the largest minimum", {}, {"minMember": 2**31 - 1, "queue": "?"}, taken=False
    ),
    noted("podgroups", "a minimum below zero", {}, {"minMember": -5, "queue": "?"}, taken=False),
    noted(
        "podgroups",
        "a request that is none",
        {"volcano.sh/card.request": "{"},
        {"minMember": 2, "queue": "?"},
        taken=False,
    ),
    noted(
        "podgroups",
        "a reservation",
        {v.RESERVATION: "{"},
        {"minMember": 2, "queue": "?"},
    ),
    noted(
        "podgroups",
        "a class that is not there",
        {},
        {"minMember": 2, "queue": "?", "priorityClassName": "no"},
    ),
    Poison(
        "namespaces",
        "a mode that is none",
        {"metadata": {"labels": {v.NAMESPACE_MODE: "nonsense"}}},
        taken=False,
    ),
    Poison(
        "namespaces",
        "a queue that is none",
        {"metadata": {"annotations": {v.QUEUE_NAME: "a b\n"}}},
    ),
    Poison("priorityclasses", "the least that 32 bits hold", {"value": -(2**31)}),
    Poison(
        "limitranges",
        "bounds of things that nobody knows",
        {"spec": {"limits": [{"type": "x.example/odd", "max": {"cpu": str(LARGEST)}}]}},
    ),
    Poison(
        "runtimeclasses",
        "an overhead of all that there is",
        {"handler": "x", "overhead": {"podFixed": {"cpu": "1n", "memory": str(LARGEST)}}},
    ),
]
"""In it, "?" stands for a queue that is there, "itself" for the name of the object."""

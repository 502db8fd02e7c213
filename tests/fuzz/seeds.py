"""Valid objects to begin from: each of the kinds that we read, in the states that matter."""

from collections.abc import Callable
from itertools import count
from typing import Any, Final

from builders import (
    GPU,
    H200,
    H800,
    H800_MPS,
    SHARED,
    Body,
    a_group,
    a_namespace,
    a_node,
    a_pod,
    a_queue,
    a_volcano_job,
)
from builders.group import GroupBody
from builders.pod import PodBody
from builders.volcano_job import VolcanoJobBody

NAMESPACES: Final = ("team", "other", "audited", "off")
QUEUES: Final = ("queue", "other", "shut", "narrow", "gangs")
GROUPS: Final = ("gang", "lone", "late")


def world() -> list[tuple[str, dict[str, Any]]]:
    """What is there at the beginning, by kind."""
    return [
        *(("nodes", body.body) for body in _nodes()),
        *(("namespaces", body.body) for body in _namespaces()),
        *(("queues", body.body) for body in _queues()),
        *(("podgroups", body.body) for body in _groups()),
        *(("priorityclasses", body) for body in _classes()),
    ]


def pods() -> list[dict[str, Any]]:
    """Some pods, of different names and uids."""
    plain = a_pod().in_queue("queue").naming(H200).asking_for(1).with_cpu("2").with_memory("1Gi")
    variants: list[PodBody] = [
        plain,
        plain.naming(f"{H200}|{H800}").owned_by("Job"),
        plain.naming(None).on_nodes_labelled({"nvidia.com/gpu.product": H200}),
        plain.naming(None).requiring([("kubernetes.io/hostname", "In", ["h200-a", "h800-a"])]),
        plain.naming(H800_MPS).put(None, "spec", "containers").asking_for(1, SHARED),
        plain.in_queue(None).in_group("gang"),
        plain.in_queue(None),
        plain.claiming_devices(),
        _rich(plain),
    ]
    states: list[Callable[[PodBody], PodBody]] = [
        lambda pod: pod,
        lambda pod: pod.gated(),
        lambda pod: pod.gated("else/where").owned_by("ReplicaSet"),
        lambda pod: pod.stamped("queue", {H200: 1}),
        lambda pod: pod.stamped("queue", {H200: 1}).on_node("h200-a").in_phase("Running"),
        lambda pod: pod.on_node("h200-a"),
        lambda pod: pod.on_node("h200-a").in_phase("Succeeded"),
    ]
    numbers = count()
    found = []
    for variant in variants:
        for state in states:
            number = next(numbers)
            body = state(variant).put(f"pod-{number}", "metadata", "name").with_uid(f"pod-{number}")
            found.append(body.in_namespace(NAMESPACES[number % len(NAMESPACES)]).body)
    return found


def questions() -> list[tuple[str, dict[str, Any]]]:
    """What may be asked about what is there, by resource."""
    asked = [("queuereviews", {"queue": queue, "limit": 20}) for queue in QUEUES]
    asked += [
        ("workloadreviews", {"kind": kind, "name": name, "apiVersion": version})
        for kind, name, version in (
            *(("Pod", f"pods-{number}", "v1") for number in range(4)),
            *(("PodGroup", name, "") for name in GROUPS),
            ("Job", "o", ""),
            ("Job", "o", "batch.volcano.sh/v1alpha1"),
            ("ReplicaSet", "o", "apps/v1"),
            ("Deployment", "web", "apps/v1"),
        )
    ]
    return [(resource, {"metadata": {"generateName": "a-"}, "spec": s}) for resource, s in asked]


def gang(number: int) -> list[tuple[str, dict[str, Any]]]:
    """A gang that fits, by kind: a group that may be known by another form, and new members."""
    group = a_group("gang").in_queue("gangs").of(2 + number % 3).with_uid("g1")
    members = [
        a_pod()
        .in_group("gang")
        .naming(H200 if number % 2 else f"{H800}|{H200}")
        .asking_for(1)
        .gated()
        .put(f"member-{which}", "metadata", "name")
        .with_uid(f"member-{number}-{which}")
        .in_namespace("team")
        for which in range(2 + number % 3)
    ]
    return [("podgroups", group.body), *(("pods", member.body) for member in members)]


def announced(number: int) -> list[tuple[str, dict[str, Any]]]:
    """A group that says what it will ask for, by kind; it fits, and its pods are not there yet."""
    choice = f"{H200}|{H800}"
    asks = ({H200: 2}, {choice: 2}, {H200: 1, choice: 1})[number % 3]
    return [("podgroups", _early().asking(asks, cpu="2", memory="1Gi").with_uid("g4").body)]


def announced_members(number: int) -> list[tuple[str, dict[str, Any]]]:
    """The pods of that group, by kind. Some ask for something else than it said."""
    members = [
        a_pod()
        .in_group("early")
        .naming((H200, f"{H800}|{H200}", H800)[number % 3])
        .asking_for(1 + number % 2)
        .gated()
        .put(f"early-{which}", "metadata", "name")
        .with_uid(f"early-{number}-{which}")
        .in_namespace("team")
        for which in range(2)
    ]
    return [("pods", member.body) for member in members]


VOLCANO_JOBS: Final = "volcano-jobs"
"""Their resource is called `jobs`, too."""


def workloads() -> dict[str, dict[str, Any]]:
    """By resource: what is reviewed besides pods and queues."""
    template = a_pod().in_queue("queue").naming(H200).asking_for(1)
    spec = {"replicas": 3, "template": template.body}
    job = {"parallelism": 2, "completions": 4, "template": template.body}
    meta = {"metadata": {"name": "web", "namespace": "team", "uid": "w"}}
    update = {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": "25%", "maxUnavailable": 1}}
    return {
        "deployments": {**meta, "spec": {**spec, "strategy": update}, "status": {"replicas": 3}},
        "statefulsets": {**meta, "spec": spec},
        "daemonsets": {**meta, "spec": {"template": template.body}},
        "replicasets": {**meta, "spec": spec},
        "jobs": {**meta, "spec": job, "status": {"succeeded": 1}},
        VOLCANO_JOBS: _volcano_job(template).body,
        "cronjobs": {**meta, "spec": {"jobTemplate": {"spec": job}}},
    }


def _volcano_job(template: PodBody) -> VolcanoJobBody:
    job = a_volcano_job("web").in_queue("queue").of(3).requesting({H200: 3})
    return job.with_task("head", 1, a_pod().with_cpu("1")).with_task("worker", 4, template, 2)


def _rich(pod: PodBody) -> PodBody:
    """With most of what is read of a pod."""
    container = {"name": "c", "resources": {"limits": {GPU: "1", "cpu": "1"}, "requests": {}}}
    return (
        pod.with_spec(
            initContainers=[container, {**container, "restartPolicy": "Always"}],
            overhead={"cpu": "250m", "memory": "120Mi"},
            resources={"limits": {"cpu": "4"}, "requests": {"cpu": "2"}},
            tolerations=[
                {"key": "a", "operator": "Exists", "effect": "NoSchedule"},
                {"key": "b", "operator": "Equal", "value": "c", "tolerationSeconds": 300},
            ],
            priority=1000,
        )
        .requiring([("zone", "NotIn", ["a"]), ("size", "Gt", ["5"])], [("zone", "Exists", [])])
        .with_priority(5)
    )


def _nodes() -> list[Body]:
    named = [("h200-a", H200), ("h200-b", H200), ("h800-a", H800)]
    return [a_node(name).with_cards(product, 8) for name, product in named]


def _namespaces() -> list[Body]:
    return [
        a_namespace("team"),
        a_namespace("other").with_default_queue("other").in_mode("enforced"),
        a_namespace("audited").in_mode("audit"),
        a_namespace("off").in_mode("off"),
    ]


def _queues() -> list[Body]:
    quota = {H200: 6, H800: 4}
    return [
        a_queue("queue").with_quota(quota).limited_to("100", "100Gi").with_uid("q1"),
        a_queue("other").with_quota({H800_MPS: 4, H200: 1}).with_policy("Gate").with_uid("q2"),
        a_queue("gangs").with_quota({H200: 90, H800: 90}).with_policy("Gate").with_uid("q5"),
        a_queue("shut").with_quota(quota).put("Closed", "status", "state").with_uid("q3"),
        a_queue("narrow")
        .with_quota(quota)
        .with_uid("q4")
        .annotated("volcano.sh/card.namespaces", '["team", "x-*"]'),
    ]


def _groups() -> list[Body]:
    enqueued = a_group("enqueued").in_queue("gangs").of(2).asking({f"{H200}|{H800}": 2})
    return [
        a_group("gang").in_queue("queue").of(3).with_uid("g1"),
        a_group("lone").in_queue("other").of(1).in_phase("Running").with_uid("g2"),
        a_group("late").in_queue("queue").of(2).reserving("queue", {H200: 2}).with_uid("g3"),
        _early().asking({H200: 1, f"{H200}|{H800}": 1}, cpu="2", memory="1Gi").with_uid("g4"),
        enqueued.enqueued("gangs", {f"{H200}|{H800}": 2}).in_phase("Inqueue").with_uid("g5"),
        a_group("job").in_queue("queue").of(3).of_tasks({"ps": 1, "worker": 2}).with_uid("g6")
        .asking({H800: 2}, cpu="500m").made_by_a_controller(),
    ]  # fmt: skip


def _early() -> GroupBody:
    return a_group("early").in_queue("gangs").of(2)


def _classes() -> list[dict[str, Any]]:
    return [{"metadata": {"name": "high", "uid": "c1", "resourceVersion": "1"}, "value": 1000}]

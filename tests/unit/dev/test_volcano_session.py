"""What was observed of Volcano, and makes it hard to run beside: the rest of the stand-in is shown
by the tests beside it."""

from typing import Any

import pytest

from cardquota_dev.plane.volcano.api_objects import GROUP_NAME, TASK_SPEC
from cardquota_dev.plane.volcano.scheduler.group_status import group_status, why_unschedulable
from cardquota_dev.plane.volcano.scheduler.session import VolcanoSession

Json = dict[str, Any]


def a_pod(
    name: str,
    *,
    group: str = "g",
    phase: str = "Pending",
    node: str = "",
    gated: bool = False,
    task: str = "worker",
    cpu: str = "1",
    needs: dict[str, str] | None = None,
    deleted: bool = False,
) -> Json:
    spec: Json = {
        "schedulerName": "volcano",
        "containers": [{"name": "c", "resources": {"requests": {"cpu": cpu}}}],
    }
    if node:
        spec["nodeName"] = node
    if gated:
        spec["schedulingGates"] = [{"name": "example.com/wait"}]
    if needs:
        spec["nodeSelector"] = needs
    meta: Json = {"name": name, "namespace": "team", "uid": f"uid-{name}"}
    meta["annotations"] = {GROUP_NAME: group, TASK_SPEC: task}
    if deleted:
        meta["deletionTimestamp"] = "2026-01-01T00:00:00Z"
    return {"metadata": meta, "spec": spec, "status": {"phase": phase}}


def a_node(name: str, *, cpu: str = "4", labels: dict[str, str] | None = None) -> Json:
    return {
        "metadata": {"name": name, "labels": labels or {}},
        "spec": {},
        "status": {"allocatable": {"cpu": cpu, "pods": "100"}},
    }


def a_pod_group(
    name: str = "g",
    *,
    phase: str = "Inqueue",
    minimum: int = 2,
    queue: str = "default",
    resources: dict[str, str] | None = None,
) -> Json:
    return {
        "metadata": {"name": name, "namespace": "team", "uid": f"uid-{name}"},
        "spec": {"minMember": minimum, "queue": queue, "minResources": resources or {}},
        "status": {"phase": phase} if phase else {},
    }


def an_open_queue(name: str = "default", *, state: str = "Open", **capability: str) -> Json:
    return {
        "metadata": {"name": name},
        "spec": {"capability": capability},
        "status": {"state": state},
    }


def a_session(
    *pods: Json,
    nodes: tuple[Json, ...] = (a_node("n1"),),
    groups: tuple[Json, ...] = (a_pod_group(),),
    queues: tuple[Json, ...] = (an_open_queue(),),
    binding: dict[str, str] | None = None,
) -> VolcanoSession:
    named = {one["metadata"]["name"]: one for one in queues}
    return VolcanoSession(pods, nodes, groups, named, binding or {})


def bound(session: VolcanoSession, *, cache_errors: bool = True) -> dict[str, str]:
    found = session.allocate(cache_errors=cache_errors)
    return {one.pod["metadata"]["name"]: one.node for one in found}


def test_a_gang_is_bound_together_or_not_at_all() -> None:
    pods = a_pod("a", cpu="3"), a_pod("b", cpu="3")
    assert bound(a_session(*pods)) == {}
    assert bound(a_session(*pods, nodes=(a_node("n1"), a_node("n2")))) == {"a": "n1", "b": "n2"}


def test_gated_pods_are_skipped_and_hold_nothing() -> None:
    groups = a_pod_group("g"), a_pod_group("h", minimum=1)
    gated = a_pod("a", gated=True, cpu="4"), a_pod("b", gated=True, cpu="4")
    session = a_session(*gated, a_pod("c", group="h", cpu="4"), groups=groups)
    assert session.allocated("default") == {}
    assert bound(session) == {"c": "n1"}


def test_later_pods_of_a_task_inherit_failures_unless_it_is_switched_off() -> None:
    nodes = a_node("n1", labels={"m": "1"}), a_node("n2", labels={"m": "2"})
    pods = a_pod("a", needs={"m": "1"}), a_pod("b", needs={"m": "2"})
    session = a_session(*pods, nodes=nodes)
    assert bound(session) == {}
    (group,) = session.groups
    assert group.misfits == {"node(s) didn't match Pod's node selector": 2}
    assert bound(a_session(*pods, nodes=nodes), cache_errors=False) == {"a": "n1", "b": "n2"}
    roles = a_pod("a", needs={"m": "1"}), a_pod("b", needs={"m": "2"}, task="master")
    assert bound(a_session(*roles, nodes=nodes)) == {"a": "n1", "b": "n2"}


def test_a_capability_counts_what_was_enqueued_before() -> None:
    resources = {"cpu": "2", "requests.cpu": "2", "count/pods": "2", "nvidia.com/gpu": "2"}
    groups = tuple(a_pod_group(name, phase="", resources=resources) for name in "abc")
    session = a_session(groups=groups, queues=(an_open_queue(cpu="4"),))
    for group in session.may_enqueue():
        group.enqueued = session.has_capability(group)
    # Cards are not named, so they are not limited.
    assert [one.enqueued for one in session.groups] == [True, True, False]


@pytest.mark.parametrize(
    ("before", "pods", "after"),
    [
        ("", (), "Pending"),
        ("Inqueue", (), "Inqueue"),
        ("Running", (), "Pending"),
        ("Inqueue", (("Running", "n"), ("Pending", "n")), "Running"),
        ("Running", (("Running", "n"), ("Pending", "")), "Unknown"),
        ("Running", (("Succeeded", "n"), ("Running", "n")), "Running"),
        ("Running", (("Succeeded", "n"), ("Succeeded", "n")), "Completed"),
    ],
)
def test_phases(before: str, pods: tuple[tuple[str, str], ...], after: str) -> None:
    made = (a_pod(f"p{at}", phase=one[0], node=one[1]) for at, one in enumerate(pods))
    session = a_session(*made, groups=(a_pod_group(phase=before),), nodes=())
    assert group_status(session.groups[0], "s")["phase"] == after


def status_of(*pods: Json, group: Json) -> dict[str, Any]:
    return group_status(a_session(*pods, groups=(group,)).groups[0], "s")


def test_unschedulable_stays_true_after_the_group_was_bound() -> None:
    group = a_pod_group()
    first = status_of(a_pod("a"), group=group)
    assert [one["type"] for one in first["conditions"]] == ["Unschedulable"]
    second = status_of(
        a_pod("a", node="n1"), a_pod("b", node="n1"), group={**group, "status": first}
    )
    types = [(one["type"], one["status"]) for one in second["conditions"]]
    assert types == [("Unschedulable", "True"), ("Scheduled", "True")]
    assert second["phase"] == "Running"


def test_why_a_group_is_unschedulable_tells_of_gates() -> None:
    session = a_session(a_pod("a", gated=True), a_pod("b", gated=True))
    assert "2 gated, 2 minAvailable" in why_unschedulable(session.groups[0])

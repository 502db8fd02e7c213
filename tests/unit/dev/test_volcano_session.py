"""What was observed of Volcano, and makes it hard to run beside: the rest of the stand-in is shown
by the tests beside it."""

from typing import Any

import pytest

from builders import a_group, a_node, a_pod, a_queue
from builders.group import GroupBody
from builders.node import NodeBody
from builders.pod import PodBody
from builders.queue import QueueBody
from cardquota_dev.plane.volcano.scheduler.group_status import group_status, why_unschedulable
from cardquota_dev.plane.volcano.scheduler.session import VolcanoSession


def member(name: str, cpu: str = "1", task: str = "worker") -> PodBody:
    pod = a_pod(name).in_group("g").of_task(task).with_cpu(cpu).in_phase("Pending")
    return pod.with_spec(schedulerName="volcano")


def of_four(name: str) -> NodeBody:
    allocatable = {"cpu": "4", "pods": "100"}
    return a_node(name).put(allocatable, "status", "allocatable").put({}, "spec")


def gang(name: str = "g", phase: str = "Inqueue") -> GroupBody:
    return a_group(name).in_queue("default").of(2).in_phase(phase)


def a_session(
    *pods: PodBody,
    nodes: tuple[NodeBody, ...] = (of_four("n1"),),
    groups: tuple[GroupBody, ...] = (gang(),),
    queue: QueueBody = a_queue("default").in_state("Open"),  # noqa: B008 - nobody changes it
) -> VolcanoSession:
    made, there, gangs = ([one.body for one in things] for things in (pods, nodes, groups))
    return VolcanoSession(made, there, gangs, {"default": queue.body}, {})


def bound(session: VolcanoSession, *, cache_errors: bool = True) -> dict[str, str]:
    found = session.allocate(cache_errors=cache_errors)
    return {one.pod["metadata"]["name"]: one.node for one in found}


def test_a_gang_is_bound_together_or_not_at_all() -> None:
    pods = member("a", "3"), member("b", "3")
    assert bound(a_session(*pods)) == {}
    nodes = of_four("n1"), of_four("n2")
    assert bound(a_session(*pods, nodes=nodes)) == {"a": "n1", "b": "n2"}


def test_gated_pods_are_skipped_and_hold_nothing() -> None:
    gated = member("a", "4").gated(), member("b", "4").gated()
    session = a_session(*gated, member("c", "4").in_group("h"), groups=(gang("g"), gang("h").of(1)))
    assert session.allocated("default") == {}
    assert bound(session) == {"c": "n1"}


def test_later_pods_of_a_task_inherit_failures_unless_it_is_switched_off() -> None:
    nodes = of_four("n1").labelled("m", "1"), of_four("n2").labelled("m", "2")
    first = member("a").on_nodes_labelled({"m": "1"})
    second = member("b").on_nodes_labelled({"m": "2"})
    session = a_session(first, second, nodes=nodes)
    assert bound(session) == {}
    (group,) = session.groups
    assert group.misfits == {"node(s) didn't match Pod's node selector": 2}
    both = {"a": "n1", "b": "n2"}
    assert bound(a_session(first, second, nodes=nodes), cache_errors=False) == both
    assert bound(a_session(first, second.of_task("master"), nodes=nodes)) == both


def test_a_capability_counts_what_was_enqueued_before() -> None:
    resources = {"cpu": "2", "requests.cpu": "2", "count/pods": "2", "nvidia.com/gpu": "2"}
    groups = tuple(gang(name, "").needing(resources) for name in "abc")
    session = a_session(groups=groups, queue=a_queue("default").in_state("Open").limited_to("4"))
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
    made = (
        member(f"p{at}").in_phase(phase).put(node, "spec", "nodeName")
        for at, (phase, node) in enumerate(pods)
    )
    session = a_session(*made, groups=(gang("g", before),), nodes=())
    assert group_status(session.groups[0], "s")["phase"] == after


def test_unschedulable_stays_true_after_the_group_was_bound() -> None:
    def status_of(*pods: PodBody, group: GroupBody) -> dict[str, Any]:
        return group_status(a_session(*pods, groups=(group,)).groups[0], "s")

    first = status_of(member("a"), group=gang())
    assert [one["type"] for one in first["conditions"]] == ["Unschedulable"]
    there = [member(name).put("n1", "spec", "nodeName") for name in "ab"]
    second = status_of(*there, group=gang().put(first, "status"))
    types = [(one["type"], one["status"]) for one in second["conditions"]]
    assert types == [("Unschedulable", "True"), ("Scheduled", "True")]
    assert second["phase"] == "Running"


def test_why_a_group_is_unschedulable_tells_of_gates() -> None:
    session = a_session(member("a").gated(), member("b").gated())
    assert "2 gated, 2 minAvailable" in why_unschedulable(session.groups[0])

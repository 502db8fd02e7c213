from typing import Any

import pytest

from cardquota_dev.plane.volcano.scheduler.group_status import group_status, why_unschedulable
from cardquota_dev.plane.volcano.scheduler.session import VolcanoSession

from .volcano_objects import Json, a_node, a_pod, a_pod_group, an_open_queue


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


def test_what_does_not_make_a_gang_leaves_its_room_to_others() -> None:
    groups = a_pod_group("g"), a_pod_group("h", minimum=1)
    other = a_pod("c", group="h", cpu="4")
    session = a_session(a_pod("a", cpu="3"), a_pod("b", cpu="3"), other, groups=groups)
    assert bound(session) == {"c": "n1"}


def test_beyond_its_minimum_a_group_is_bound_as_far_as_there_is_room() -> None:
    pods = (a_pod(name, cpu="2") for name in "abc")
    assert bound(a_session(*pods)) == {"a": "n1", "b": "n1"}


@pytest.mark.parametrize("phase", ["", "Pending"])
def test_a_group_that_is_not_enqueued_is_not_bound(phase: str) -> None:
    pods = a_pod("a"), a_pod("b")
    assert bound(a_session(*pods, groups=(a_pod_group(phase=phase),))) == {}


def test_gated_pods_are_skipped_and_hold_nothing() -> None:
    groups = a_pod_group("g"), a_pod_group("h", minimum=1)
    gated = a_pod("a", gated=True, cpu="4"), a_pod("b", gated=True, cpu="4")
    session = a_session(*gated, a_pod("c", group="h", cpu="4"), groups=groups)
    assert session.allocated("default") == {}
    assert bound(session) == {"c": "n1"}


def test_bound_and_binding_pods_hold_their_nodes_and_ended_ones_do_not() -> None:
    others: tuple[Json, ...] = (
        a_pod("x", group="", node="n1", cpu="1"),
        a_pod("y", group="", node="n1", cpu="4", phase="Succeeded"),
        a_pod("z", group="other", cpu="1"),
    )
    pods = a_pod("a", cpu="1"), a_pod("b", cpu="1")
    session = a_session(*others, *pods, binding={"uid-z": "n1"})
    assert bound(session) == {"a": "n1", "b": "n1"}
    others = *others, a_pod("w", group="", node="n1")
    assert bound(a_session(*others, *pods, binding={"uid-z": "n1"})) == {}


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


def test_which_member_is_tried_first_is_not_a_matter_of_names() -> None:
    """One that fits nowhere fails for all of its task, whether it is needed or not."""
    nodes = (a_node("n1", labels={"m": "1"}),)
    extra = a_pod("z", needs={"m": "2"})
    extra["metadata"]["uid"] = "first-by-uid"
    pods = a_pod("a", needs={"m": "1"}), a_pod("b", needs={"m": "1"}), extra
    assert bound(a_session(*pods, nodes=nodes)) == {}
    assert bound(a_session(*pods, nodes=nodes), cache_errors=False) == {"a": "n1", "b": "n1"}


def waiting(session: VolcanoSession) -> list[str]:
    return [one.group["metadata"]["name"] for one in session.may_enqueue()]


def test_groups_of_open_queues_alone_are_enqueued() -> None:
    groups = (
        a_pod_group("new", phase=""),
        a_pod_group("old", phase="Pending"),
        a_pod_group("inside"),
        a_pod_group("closed", phase="", queue="shut"),
        a_pod_group("lost", phase="", queue="nowhere"),
    )
    queues = an_open_queue(), an_open_queue("shut", state="Closing")
    assert waiting(a_session(groups=groups, queues=queues)) == ["new", "old"]


def test_a_capability_counts_what_was_enqueued_before() -> None:
    resources = {"cpu": "2", "requests.cpu": "2", "count/pods": "2", "nvidia.com/gpu": "2"}
    groups = tuple(a_pod_group(name, phase="", resources=resources) for name in "abc")
    session = a_session(groups=groups, queues=(an_open_queue(cpu="4"),))
    for group in session.may_enqueue():
        group.enqueued = session.has_capability(group)
    # Cards are not named, so they are not limited.
    assert [one.enqueued for one in session.groups] == [True, True, False]


def test_gated_pods_of_an_enqueued_group_leave_room_in_the_capability() -> None:
    groups = (
        a_pod_group("g", resources={"cpu": "2"}),
        a_pod_group("h", phase="", resources={"cpu": "2"}),
    )
    queues = (an_open_queue(cpu="2"),)
    gated = a_pod("a", gated=True), a_pod("b", gated=True)
    session = a_session(*gated, groups=groups, queues=queues)
    assert [session.has_capability(one) for one in session.may_enqueue()] == [True]
    session = a_session(a_pod("a"), a_pod("b"), groups=groups, queues=queues)
    assert [session.has_capability(one) for one in session.may_enqueue()] == [False]


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


def test_what_has_not_changed_is_not_written_again() -> None:
    group = a_pod_group()
    first = status_of(a_pod("a"), group=group)
    assert status_of(a_pod("a"), group={**group, "status": first}) == first


def test_unknown_fields_of_a_status_are_lost() -> None:
    group = a_pod_group()
    group["status"]["columns"] = {"cards": "3"}
    assert "columns" not in status_of(group=group)


def test_why_a_group_is_unschedulable_tells_of_gates() -> None:
    session = a_session(a_pod("a", gated=True), a_pod("b", gated=True))
    assert "2 gated, 2 minAvailable" in why_unschedulable(session.groups[0])

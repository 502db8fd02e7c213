"""Pods have subresources by which the same object is written: none of them is a way round."""

from itertools import product
from typing import Any

import pytest

from builders.pod import PodBody
from cardquota.quota import vocabulary as v
from integration.asking import ApiReply, ask
from integration.roomy_nodes import T1000, T2000
from integration.team import Team, gates, notes

from .people import MIGHTY, TENANT, may

SUBRESOURCES = ("", "/status", "/ephemeralcontainers", "/resize")
CARRY_ANNOTATIONS = ("", "/status")
"""The API server leaves annotations and labels out of the other writes."""

JSON_PATCH = "application/json-patch+json"


def write(team: Team, pod: PodBody, sub: str, change: dict[str, Any]) -> ApiReply:
    return team.patch(pod, change, sub=sub, as_user=MIGHTY)


def waiting_and_open(team: Team) -> tuple[PodBody, PodBody]:
    """One pod past its gate, and one at it, in a queue that is full."""
    team.has_queue(team.a_queue({T1000: 1}).with_policy("Gate"))
    team.has_queue({T1000: 1}, name="other")
    first, second = (team.a_pod(name, 1, T1000) for name in ("first", "second"))
    assert team.create(first).ok
    team.until_open("first")
    assert team.create(second).ok
    return second, first


@pytest.mark.slow
def test_nothing_of_a_pod_is_written_by_any_of_them(people: Team) -> None:
    """What the operator writes, and the gate, of pods that wait and of those past the gate; what a
    pod is charged for once its gate is open; and our label.
    """
    waits, opened = waiting_and_open(people)
    for pod in (waits, opened):
        the_operators_annotations_are_not_written(people, pod)
        nobody_changes_the_label_or_takes_it_away(people, pod)
    what_a_pod_is_charged_for_is_fixed(people, opened)
    people.until_row(T1000, allocated=1)
    the_gate_is_not_removed(people, waits)
    an_ephemeral_container_asks_for_nothing(people, opened)
    people.until_row(T1000, allocated=1, requested=2)


def the_operators_annotations_are_not_written(team: Team, pod: PodBody) -> None:
    """Refused, or left out by the API server."""
    before = notes(team.pod(pod.name))
    for sub, (key, value) in product(
        SUBRESOURCES,
        (
            (v.ALLOCATED, "{}"),
            (v.CHARGED_QUEUE, team.queue_name("other")),
            (v.TERM, "mine"),
            (v.SETTLE, "mine"),
        ),
    ):
        reply = write(team, pod, sub, {"metadata": {"annotations": {key: value}}})
        if sub in CARRY_ANNOTATIONS:
            assert reply.code == 403, (key, reply)
            assert "they are written by cardquota alone" in reply.message
    assert notes(team.pod(pod.name)) == before


def nobody_changes_the_label_or_takes_it_away(team: Team, pod: PodBody) -> None:
    for value, sub in product(("x", "", None), SUBRESOURCES):
        reply = write(team, pod, sub, {"metadata": {"labels": {v.MANAGED: value}}})
        if sub in CARRY_ANNOTATIONS:
            assert reply.code == 403, (value, reply)
            assert "may not change the label" in reply.message
        assert team.pod(pod.name)["metadata"]["labels"][v.MANAGED] == v.IS_MANAGED


def what_a_pod_is_charged_for_is_fixed(team: Team, pod: PodBody) -> None:
    """Changed, emptied, taken away, or added."""
    before = notes(team.pod(pod.name))
    for sub, key, value in product(SUBRESOURCES, v.FIXED_ONCE_OPEN, (T2000, "", None)):
        reply = write(team, pod, sub, {"metadata": {"annotations": {key: value}}})
        if sub in CARRY_ANNOTATIONS and before.get(key) != value:
            assert reply.code == 403, (key, value, reply)
            assert "they are fixed once the pod is past its gate" in reply.message
    assert notes(team.pod(pod.name)) == before


def the_gate_is_not_removed(team: Team, pod: PodBody) -> None:
    """A merge patch without it, and a JSON patch that takes it away."""
    removal = [{"op": "remove", "path": "/spec/schedulingGates/0"}]
    for sub in SUBRESOURCES:
        path = f"{team.path(pod)}/{pod.name}{sub}"
        merged = write(team, pod, sub, {"spec": {"schedulingGates": None}})
        removed = ask(team.cluster, "PATCH", path, removal, content_type=JSON_PATCH, as_user=MIGHTY)
        if not sub:
            for reply in (merged, removed):
                assert reply.code == 403
                assert "may not remove the scheduling gate" in reply.message
    assert gates(team.pod(pod.name)) == [v.GATE]


def an_ephemeral_container_asks_for_nothing(team: Team, pod: PodBody) -> None:
    """The API server itself lets it have no resources."""
    for resources in ({"limits": {"nvidia.com/gpu": "1"}}, {"requests": {"cpu": "8"}}):
        debugger = {"name": "debug", "image": "i", "resources": resources}
        reply = write(team, pod, "/ephemeralcontainers", _with(debugger))
        assert reply.code == 422
        assert "cannot be set for an Ephemeral Container" in reply.message
    plain = {"name": "debug", "image": "i"}
    assert write(team, pod, "/ephemeralcontainers", _with(plain)).ok


def _with(container: dict[str, Any]) -> dict[str, Any]:
    return {"spec": {"ephemeralContainers": [container]}}


def test_a_status_that_says_a_pod_has_ended_is_believed_until_it_is_taken_back(
    people: Team,
) -> None:
    """T1: who may write `pods/status` speaks for the node. No shipped role gives that right; where
    somebody has it, the lie ends in a queue that says it is over its quota (I3, Q7).
    """
    second, first = waiting_and_open(people)
    # Before that kwok would take it back.
    people.until(lambda: people.pod("first")["status"].get("phase") == "Running", "it runs")
    assert write(people, first, "/status", {"status": {"phase": "Succeeded"}}).ok
    people.until_bound(second.name)
    assert write(people, first, "/status", {"status": {"phase": "Running"}}).ok
    people.until_row(T1000, allocated=2, quota=1)
    people.until(lambda: people.condition("OverQuota")["status"] == "True", "OverQuota")
    assert people.condition("OverQuota")["message"] == (
        f"Queue <{people.queue_name()}> holds 2 of <{T1000}>, its quota is 1: "
        "nothing new that asks for it is released until it fits; other cards are not affected; "
        "free some of it, or raise the quota"
    )


def test_the_shipped_roles_do_not_reach_the_status_of_pods(people: Team) -> None:
    """Nor their binding, nor their resizing: whoever grants those rights grants more."""
    for verb, resource in (
        ("patch", "pods/status"),
        ("patch", "pods/resize"),
        ("patch", "pods/ephemeralcontainers"),
        ("create", "pods/binding"),
        ("create", "bindings"),
    ):
        assert not may(people, TENANT, verb, resource), resource
        assert may(people, MIGHTY, verb, resource), resource

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
"""The API server leaves annotations out of the other writes."""

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
def test_the_operators_annotations_are_not_written(people: Team) -> None:
    """Refused, or left out by the API server: of pods that wait and of those past the gate."""
    for pod in waiting_and_open(people):
        before = notes(people.pod(pod.name))
        for sub, (key, value) in product(
            SUBRESOURCES,
            (
                (v.ALLOCATED, "{}"),
                (v.CHARGED_QUEUE, people.queue_name("other")),
                (v.TERM, "mine"),
                (v.SETTLE, "mine"),
            ),
        ):
            reply = write(people, pod, sub, {"metadata": {"annotations": {key: value}}})
            if sub in CARRY_ANNOTATIONS:
                assert reply.code == 403, (key, reply)
                assert "they are written by cardquota alone" in reply.message
        assert notes(people.pod(pod.name)) == before


@pytest.mark.slow
def test_what_a_pod_is_charged_for_is_fixed_once_its_gate_is_open(people: Team) -> None:
    """Changed, emptied, taken away, or added."""
    _, pod = waiting_and_open(people)
    before = notes(people.pod(pod.name))
    for sub, key, value in product(SUBRESOURCES, v.FIXED_ONCE_OPEN, (T2000, "", None)):
        reply = write(people, pod, sub, {"metadata": {"annotations": {key: value}}})
        if sub in CARRY_ANNOTATIONS and before.get(key) != value:
            assert reply.code == 403, (key, value, reply)
            assert "they are fixed once the pod is past its gate" in reply.message
    assert notes(people.pod(pod.name)) == before
    people.until_row(T1000, allocated=1)


def test_the_gate_is_not_removed(people: Team) -> None:
    """A merge patch without it, and a JSON patch that takes it away."""
    pod, _ = waiting_and_open(people)
    removal = [{"op": "remove", "path": "/spec/schedulingGates/0"}]
    for sub in SUBRESOURCES:
        path = f"{people.path(pod)}/{pod.name}{sub}"
        merged = write(people, pod, sub, {"spec": {"schedulingGates": None}})
        removed = ask(
            people.cluster, "PATCH", path, removal, content_type=JSON_PATCH, as_user=MIGHTY
        )
        if not sub:
            for reply in (merged, removed):
                assert reply.code == 403
                assert "may not remove the scheduling gate" in reply.message
    assert gates(people.pod(pod.name)) == [v.GATE]


def test_an_ephemeral_container_asks_for_nothing(people: Team) -> None:
    """The API server itself lets it have no resources."""
    _, pod = waiting_and_open(people)
    for resources in ({"limits": {"nvidia.com/gpu": "1"}}, {"requests": {"cpu": "8"}}):
        debugger = {"name": "debug", "image": "i", "resources": resources}
        reply = write(people, pod, "/ephemeralcontainers", _with(debugger))
        assert reply.code == 422
        assert "cannot be set for an Ephemeral Container" in reply.message
    plain = {"name": "debug", "image": "i"}
    assert write(people, pod, "/ephemeralcontainers", _with(plain)).ok
    people.until_row(T1000, allocated=1, requested=2)


def _with(container: dict[str, Any]) -> dict[str, Any]:
    return {"spec": {"ephemeralContainers": [container]}}


def test_a_status_that_says_a_pod_has_ended_is_believed_until_it_is_taken_back(
    people: Team,
) -> None:
    """T1: who may write `pods/status` speaks for the node. No shipped role gives that right; where
    somebody has it, the lie ends in a queue that says it is over its quota (I3, Q7).
    """
    second, first = waiting_and_open(people)
    people.until_bound("first")
    assert write(people, first, "/status", {"status": {"phase": "Succeeded"}}).ok
    people.until_bound(second.name)
    assert write(people, first, "/status", {"status": {"phase": "Running"}}).ok
    people.until_row(T1000, allocated=2, quota=1)
    people.until(lambda: people.condition("OverQuota")["status"] == "True", "OverQuota")
    assert people.condition("OverQuota")["message"] == (
        f"Queue <{people.queue_name()}> holds 2 of <{T1000}>, its quota is 1: "
        "nothing new that asks for it is let through until it fits; other cards are not affected; "
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

"""P1: while a pod is resized it holds the most of what it asks for and what its node has given it,
as Kubernetes' own quota counts it.
"""

from typing import Any

import pytest

from builders import a_ledger, a_namespace, a_pod, a_queue
from builders.pod import PodBody
from cardquota.quota.pods.pod_facts import pod_facts

GI = 2**30


def resized(asked: str, kept: str | None, done: str | None) -> PodBody:
    """Bound; of one container what it asks for, what its node keeps for it, and has carried out."""
    status: dict[str, Any] = {"name": "main"}
    if kept is not None:
        status["allocatedResources"] = {"memory": kept}
    if done is not None:
        status["resources"] = {"requests": {"memory": done}}
    pod = a_pod().in_queue("red").with_memory(asked)
    return pod.on_node("n").put([status], "status", "containerStatuses")


@pytest.mark.parametrize(
    ("asked", "kept", "done", "held"),
    [
        ("2Gi", None, None, 2),
        ("2Gi", "2Gi", "2Gi", 2),
        ("2Gi", "6Gi", "6Gi", 6),
        ("2Gi", "2Gi", "6Gi", 6),
        ("2Gi", "6Gi", "2Gi", 6),
        ("8Gi", "6Gi", "6Gi", 8),
        ("2Gi", None, "6Gi", 6),
        ("2Gi", "6Gi", None, 2),  # as Kubernetes: a status without resources says nothing
        ("2048Mi", "2Gi", "2147483648", 2),
    ],
)
def test_the_most_of_asked_kept_and_done_counts(
    asked: str, kept: str | None, done: str | None, held: int
) -> None:
    assert resized(asked, kept, done).facts().memory == held * GI


def test_containers_count_each_by_itself_and_of_init_containers_the_sidecars() -> None:
    def container(name: str, memory: str, **more: str) -> dict[str, Any]:
        return {"name": name, "resources": {"requests": {"memory": memory}}, **more}

    def status(name: str, memory: str) -> dict[str, Any]:
        return {"name": name, "resources": {"requests": {"memory": memory}}}

    pod = a_pod().with_spec(
        containers=[container("grows", "3Gi"), container("shrinks", "1Gi"), container("new", "1")],
        initContainers=[
            container("sidecar", "1Gi", restartPolicy="Always"),
            container("step", "1Gi"),
        ],
    )
    running = [status("shrinks", "4Gi"), status("grows", "1Gi")]
    steps = [status("sidecar", "2Gi"), status("step", "90Gi")]
    bound = (
        pod.on_node("n")
        .put(running, "status", "containerStatuses")
        .put(steps, "status", "initContainerStatuses")
    )
    assert bound.facts().memory == (3 + 4 + 2) * GI + 1
    assert bound.facts().resized_to == (0, (1 + 4 + 2) * GI + 1)


def test_the_pods_own_level_counts_where_it_asks_for_something() -> None:
    pod = a_pod().with_memory("1Gi").on_node("n")
    level = pod.with_spec(resources={"requests": {"memory": "3Gi"}})
    for body, held in ((level, 7), (pod, 1)):
        status = body.put({"memory": "7Gi"}, "status", "allocatedResources")
        status = status.put({"requests": {"memory": "5Gi"}}, "status", "resources")
        assert status.facts().memory == held * GI


def test_who_is_not_bound_holds_nothing_by_its_status() -> None:
    pod = a_pod().with_memory("1Gi").gated()
    status = {"name": "main", "resources": {"requests": {"memory": "9Gi"}}}
    assert pod.put([status], "status", "containerStatuses").facts().memory == GI


def test_a_status_that_cannot_be_read_is_said_to_be_wrong() -> None:
    assert "<many>" in resized("1Gi", "many", "1Gi").facts().problem


def test_a_pod_with_too_many_containers_counts_by_its_status_too() -> None:
    containers = [
        {"name": f"c{n}", "resources": {"requests": {"memory": "1Gi"}}} for n in range(300)
    ]
    pod = a_pod().with_spec(containers=containers).on_node("n")
    status = {"name": "c0", "resources": {"requests": {"memory": "9Gi"}}}
    assert pod.facts().oversized
    assert pod.put([status], "status", "containerStatuses").facts().memory == 308 * GI


@pytest.mark.parametrize(("mode", "held"), [("enforced", 90), ("audit", 6)])
def test_i3_where_nothing_is_enforced_a_pod_counts_by_what_its_node_has_given_it(
    mode: str, held: int
) -> None:
    """Nobody has judged what it asks for."""
    namespace = a_namespace().in_mode(mode)
    ledger = a_ledger(a_queue("red"), namespace, resized("90Gi", "6Gi", "6Gi"))
    account = ledger.account("red")
    assert account is not None
    assert account.row("memory").allocated == held * GI


def test_what_its_node_has_is_the_same_facts_where_nothing_is_resized() -> None:
    facts = pod_facts(resized("2Gi", "2Gi", "2Gi").wire())
    assert facts.as_its_node_has_it() is facts

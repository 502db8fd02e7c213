"""Workloads: a word at the Deployment, the answer at each pod."""

from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from builders import GPU
from integration.asking import Object, ask
from integration.bursts import end_surplus
from integration.roomy_nodes import T1000
from integration.team import Team
from integration.workload_bodies import change, create, path, refusals, workload


def how_many(fit: int, asked: int, *, waits: bool = False) -> str:
    """What a workload named `web` is told."""
    rest, one = asked - fit, asked - fit == 1
    waiting = f"{rest} {'waits' if one else 'wait'} at the gate"
    refused = f"{rest} {'is' if one else 'are'} refused until there is room"
    return f"web: {fit} of {asked} pods fit the quota now, {waiting if waits else refused}"


@contextmanager
def runtime_class(team: Team, overhead: Object) -> Iterator[str]:
    """A RuntimeClass with this overhead; its name."""
    name, classes = f"{team.prefix}-kata", "/apis/node.k8s.io/v1/runtimeclasses"
    body = {
        "apiVersion": "node.k8s.io/v1",
        "kind": "RuntimeClass",
        "metadata": {"name": name},
        "handler": "kata",
        "overhead": {"podFixed": overhead},
    }
    assert (reply := ask(team.cluster, "POST", classes, body)).ok, reply
    try:
        yield name
    finally:
        ask(team.cluster, "DELETE", f"{classes}/{name}")


def limit_range(team: Team, **item: Object) -> None:
    body = {
        "apiVersion": "v1",
        "kind": "LimitRange",
        "metadata": {"name": "limits"},
        "spec": {"limits": [{"type": "Container", **item}]},
    }
    ranges = f"/api/v1/namespaces/{team.namespace}/limitranges"
    assert (reply := ask(team.cluster, "POST", ranges, body)).ok, reply


@pytest.mark.slow
def test_what_the_api_server_adds_to_the_pods_is_in_the_numbers(team: Team) -> None:
    """A LimitRange's request for each of two containers, and a RuntimeClass' overhead: 1.25 cpu."""
    team.has_queue(team.a_queue({T1000: 8}).limited_to(cpu="4"))
    limit_range(team, max={"cpu": "2"}, defaultRequest={"cpu": "500m"})
    with runtime_class(team, {"cpu": "250m"}) as kata:
        two = [{"name": "a", "resources": {"limits": {GPU: "1"}}}, {"name": "b"}]
        pod = team.a_pod("web", 0, T1000).with_spec(containers=two, runtimeClassName=kata)

        def told() -> tuple[str, ...]:
            target = f"{path(team, 'Deployment')}?dryRun=All"
            body = workload(team, "Deployment", pod, replicas=5)
            return ask(team.cluster, "POST", target, body).warnings

        def given() -> bool:
            """The API server's own admission has heard of both."""
            spec = team.create(pod, dry=True).body.get("spec", {})
            requests = [one["resources"].get("requests", {}) for one in spec.get("containers", ())]
            return bool(spec.get("overhead")) and all("cpu" in one for one in requests)

        team.until(given, "what the API server adds")
        team.until(lambda: how_many(3, 5) in told(), "the operator has seen both")
        reply = create(team, "Deployment", pod, replicas=5)
        assert reply.warnings[0] == how_many(3, 5)
        assert (
            "<cpu> quota: requested <1.25>, total would be <5>, but capability is <4>"
            in (reply.warnings[1])
        )

        def refused() -> bool:
            end_surplus(team.cluster, team.namespace, 3)
            return bool(refusals(team))

        team.until(refused, "FailedCreate")
        team.until_row(T1000, allocated=3, requested=3)
        assert len(team.pods()) == 3


@pytest.mark.slow
def test_a_workload_that_is_made_larger(team: Team) -> None:
    """At the create as at the edit; a smaller one hears nothing."""
    jobs: tuple[Object, Object] = ({"parallelism": 2, "completions": 9}, {"parallelism": 5})
    for kind, two, five in (
        ("Deployment", {"replicas": 2}, {"replicas": 5}),
        ("StatefulSet", {"replicas": 2}, {"replicas": 5}),
        ("Job", *jobs),
        ("CronJob", jobs[0], {"jobTemplate": {"spec": jobs[1]}}),
    ):
        name = kind.lower()
        team.has_queue({T1000: 3}, name)
        pod = team.a_pod("web", 1, T1000, name).annotated("cardquota.dev/run-seconds", "3600")
        assert create(team, kind, pod, **two).warnings == ()
        if kind != "CronJob":  # none of whose Jobs is due
            team.until_row(T1000, name, allocated=2)
        reply = change(team, kind, "web", five)
        assert reply.ok
        assert reply.warnings[0] == how_many(3, 5, waits=kind in ("Job", "CronJob"))
        assert "requested <1>, total would be <4>, but capability is <3>" in reply.warnings[1]

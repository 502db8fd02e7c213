"""Workloads: a word at the Deployment, the answer at each pod."""

from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from builders import GPU, H200, a_node
from builders.pod import PodBody
from cardquota.quota import vocabulary as v
from integration.asking import Object, ask, metric
from integration.own_node import a_node_of
from integration.roomy_nodes import T1000, T2000
from integration.team import Team, gates, let_through, notes
from integration.workload_bodies import change, create, path, refusals, workload


@pytest.mark.slow
def test_from_two_replicas_to_four_of_a_quota_of_three(team: Team) -> None:
    """The third runs, the fourth is refused, and both the person and the controller are told."""
    queue = team.has_queue({T1000: 3})
    sentence = (
        f"Queue <{queue}> has insufficient <{T1000}> quota: "
        "requested <1>, total would be <4>, but capability is <3>"
    )
    assert create(team, "Deployment", team.a_pod("web", 1, T1000), replicas=2).warnings == ()
    team.until_row(T1000, allocated=2)

    reply = change(team, "Deployment", "web", {"replicas": 4})

    assert reply.ok
    assert reply.warnings == (
        "web: 3 of 4 pods fit the quota now, 1 is refused until there is room",
        f"{sentence}; held by web 2",
    )
    team.until_row(T1000, allocated=3, requested=3, inqueue=0)
    told = team.until(lambda: refusals(team), "FailedCreate")
    assert f"{sentence}; wait until" in told[0]
    assert "; held by web " in told[0]
    assert len(team.pods()) == 3


def test_a_deployment_none_of_whose_pods_can_ever_fit(team: Team) -> None:
    """E5: a word at once, at the place where people look."""
    team.has_queue({H200: 3})
    reply = create(team, "Deployment", team.a_pod("web", 5, H200), replicas=1)
    assert reply.ok
    assert len(reply.warnings) == 1
    assert "requested <5>, total would be <5>, but capability is <3>" in reply.warnings[0]


@pytest.mark.slow
def test_the_pods_of_a_job_wait_at_the_gate(team: Team) -> None:
    """Section 2: training waits."""
    team.has_queue({T1000: 2})
    pod = team.a_pod("train", 1, T1000).annotated("cardquota.dev/run-seconds", "60")
    reply = create(team, "Job", pod, parallelism=4, completions=4)
    assert reply.warnings[0] == "train: 2 of 4 pods fit the quota now, 2 wait at the gate"
    team.until_row(T1000, allocated=2, requested=4)
    pods = team.pods()
    assert sorted(let_through(pod) for pod in pods) == [False, False, True, True]
    for waiting in [pod for pod in pods if not let_through(pod)]:
        assert gates(waiting) == [v.GATE]
        assert v.ALLOCATED not in notes(waiting)
        told = team.until_told(waiting["metadata"]["name"], v.Reason.INSUFFICIENT_CARD)
        assert "requested <1>, total would be <3>, but capability is <2>" in told["message"]
    assert refusals(team) == []


def how_many(fit: int, asked: int, *, waits: bool = False) -> str:
    """What a workload named `web` is told."""
    rest, one = asked - fit, asked - fit == 1
    waiting = f"{rest} {'waits' if one else 'wait'} at the gate"
    refused = f"{rest} {'is' if one else 'are'} refused until there is room"
    return f"web: {fit} of {asked} pods fit the quota now, {waiting if waits else refused}"


@pytest.mark.parametrize(
    ("kind", "two", "five"),
    [
        ("Deployment", {"replicas": 2}, {"replicas": 5}),
        ("StatefulSet", {"replicas": 2}, {"replicas": 5}),
        ("Job", {"parallelism": 2, "completions": 9}, {"parallelism": 5}),
        (
            "CronJob",
            {"parallelism": 2, "completions": 9},
            {"jobTemplate": {"spec": {"parallelism": 5}}},
        ),
    ],
)
def test_a_workload_that_is_made_larger(team: Team, kind: str, two: Object, five: Object) -> None:
    """At the create as at the edit; a smaller one hears nothing."""
    team.has_queue({T1000: 3})
    pod = team.a_pod("web", 1, T1000).annotated("cardquota.dev/run-seconds", "3600")
    waits = kind in ("Job", "CronJob")
    assert create(team, kind, pod, **two).warnings == ()
    if kind != "CronJob":  # none of whose Jobs is due
        team.until_row(T1000, allocated=2)
    reply = change(team, kind, "web", five)
    assert reply.ok
    assert reply.warnings[0] == how_many(3, 5, waits=waits)
    assert "requested <1>, total would be <4>, but capability is <3>" in reply.warnings[1]


@pytest.mark.slow
def test_a_template_that_is_changed(team: Team) -> None:
    """What the old pods hold is given back: three of one card become one of two."""
    team.has_queue({T1000: 3, T2000: 2})
    assert create(team, "Deployment", team.a_pod("web", 1, T1000), replicas=3).warnings == ()
    team.until_row(T1000, allocated=3)

    def template(pod: PodBody) -> Object:
        wire = team.wire(pod)
        return {"metadata": {"annotations": notes(wire)}, "spec": wire["spec"]}

    # Paused, its controller leaves the old pods alone.
    two = {"paused": True, "template": template(team.a_pod("web", 2, T1000))}
    reply = change(team, "Deployment", "web", two)
    assert reply.ok
    assert reply.warnings[0] == how_many(1, 3)

    either = template(team.a_pod("web", 1, f"{T1000}|{T2000}"))
    reply = change(team, "Deployment", "web", {"replicas": 6, "template": either})
    assert reply.warnings[0] == how_many(5, 6)
    assert (
        f"<{T1000}> quota: requested <1>, total would be <4>, but capability is <3>"
        in (reply.warnings[1])
    )
    assert (
        f"<{T2000}> quota: requested <1>, total would be <3>, but capability is <2>"
        in (reply.warnings[1])
    )


@pytest.mark.slow
def test_a_daemon_set_on_more_nodes_than_there_is_quota(team: Team) -> None:
    """A pod on each node that it selects and that has the card; on others it holds no quota."""
    card = f"{team.prefix}-card"
    nodes = [a_node(f"{team.prefix}-{n}").with_cards(card, "8") for n in range(2)]
    with a_node_of(team, nodes[0]), a_node_of(team, nodes[1]):
        team.has_queue({card: 1})
        counted = "cardquota_cluster_card_allocatable"
        team.until(lambda: metric(team.cluster, counted, card=card) == 16, "the nodes are seen")
        reply = create(team, "DaemonSet", team.a_pod("web", 1, card))
        assert reply.ok
        assert reply.warnings[0] == how_many(1, 2)
        team.until_row(card, allocated=1)
        nobody = {"template": {"spec": {"nodeSelector": {"kubernetes.io/os": "plan9"}}}}
        assert change(team, "DaemonSet", "web", nobody).warnings == ()


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
def test_cards_that_only_a_limit_range_gives_are_in_the_warning(team: Team) -> None:
    """P1: of a template that names the queue and asks for nothing."""
    team.has_queue({T1000: 3})
    limit_range(team, default={GPU: "2"}, defaultRequest={GPU: "2"})
    pod = team.a_pod("web", 0, T1000)

    def told() -> tuple[str, ...]:
        target = f"{path(team, 'Deployment')}?dryRun=All"
        return ask(
            team.cluster, "POST", target, workload(team, "Deployment", pod, replicas=4)
        ).warnings

    team.until(lambda: how_many(1, 4) in told(), "the operator has seen it")
    assert f"<{T1000}> quota: requested <2>, total would be <4>, but capability is <3>" in told()[1]


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
        team.until_row(T1000, allocated=3, requested=3)
        team.until(lambda: refusals(team), "FailedCreate")
        assert len(team.pods()) == 3

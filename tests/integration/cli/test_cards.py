"""`kubectl cardquota cards`, as a process, on the plane with the product."""

import json
from collections.abc import Sequence
from pathlib import Path

import pytest

from builders import GPU, a_node
from cardquota.quota import vocabulary as v
from cardquota.quota.messages import report_messages
from cardquota_dev.testing import eventually
from integration.asking import Object, ask, metric
from integration.own_node import a_node_of
from integration.plugin import plugin
from integration.team import Team

AMD = "amd.com/gpu"
PARTITION = "amd.com/compute-memory-partition"


def listed(kubeconfig: Path) -> Object:
    """What is found with this kubeconfig, for programs."""
    done = plugin(kubeconfig, "cards", "-o", "json")
    assert (done.returncode, done.stderr) == (0, "")
    return dict(json.loads(done.stdout))


def line(found: Object, card: str) -> Object:
    (one,) = (one for one in found["cards"] if one["name"] == card)
    return dict(one)


def not_counted(found: Object, node: str) -> list[str]:
    return [entry["problem"] for entry in found["not_counted"] if entry["node"] == node]


def the_tenants(team: Team) -> Path:
    assert team.cluster.folder is not None
    return team.cluster.folder.tenant_kubeconfig


@pytest.mark.slow
def test_cards_and_quotas_as_they_are(team: Team) -> None:
    """Q3: the same numbers as the operator's; the tenant may see them."""
    card = f"{team.prefix}-card"
    team.has_queue({card: 5}, "a")
    team.has_queue({card: 4, f"{team.prefix}-gone": 1}, "b")
    with a_node_of(team, a_node(f"{team.prefix}-one").with_cards(card, "8")):
        team.until_row(card, "a", quota=5, resource=GPU)
        found = listed(the_tenants(team))
        assert line(found, card) == {
            "name": card,
            "resource": GPU,
            "allocatable": 8,
            "nodes": 1,
            "quota": 9,
            "queues": 2,
            "oversold": 1,
            "allocated": 0,
            "inqueue": 0,
            "queue_names": sorted(map(team.queue_name, ("a", "b"))),
        }
        assert line(found, f"{team.prefix}-gone")["oversold"] == 1


@pytest.mark.slow
def test_d9_event_metric_and_command_tell_the_same_of_a_node_with_bad_labels(team: Team) -> None:
    name = f"{team.prefix}-bad"
    card = f"{team.prefix}-card"
    node = a_node(name).with_cards(card, "4").offering("8", f"{GPU}.shared")
    node = node.labelled(f"{GPU}.replicas", "0").labelled("amd.com/gpu.product-name", "X")
    node = node.labelled(PARTITION, "odd").offering(8, AMD)
    before = metric(team.cluster, "cardquota_uncounted_nodes")
    with a_node_of(team, node):
        found = listed(team.cluster.kubeconfig)
        problems = not_counted(found, name)
        assert problems == [
            f"label {PARTITION}: <odd> is no known partition",
            f"label {GPU}.replicas: <0> is not a number above one",
        ]
        assert line(found, card)["allocatable"] == 4
        event = eventually(lambda: node_events(team, name), f"event on {name}")[0]
        assert (event["reason"], event["type"]) == (v.NOT_COUNTED, "Warning")
        assert event["message"] == report_messages.not_counted(name, problems, others=True)
        assert metric(team.cluster, "cardquota_uncounted_nodes") == before + 1
    eventually(
        lambda: metric(team.cluster, "cardquota_uncounted_nodes") == before, "the metric as before"
    )


def node_events(team: Team, node: str) -> Sequence[Object]:
    path = f"/api/v1/namespaces/default/events?fieldSelector=involvedObject.name={node}"
    found = ask(team.cluster, "GET", path).body["items"]
    return [event for event in found if event.get("reportingComponent") == "cardquota"]

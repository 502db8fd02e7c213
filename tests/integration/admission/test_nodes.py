"""Nodes with labels that cannot be read (D9), and a node that disagrees (D7)."""

import pytest

from builders import GPU, H200, a_node
from cardquota.quota import vocabulary as v
from integration.asking import ask, metric
from integration.own_node import a_node_of
from integration.roomy_nodes import T1000
from integration.team import Team


def allocatable(team: Team, card: str) -> float:
    return metric(team.cluster, "cardquota_cluster_card_allocatable", card=card)


@pytest.mark.parametrize(
    "labels",
    [
        {f"{GPU}.product": "", f"{GPU}.memory": "1"},
        {
            f"{GPU}.product": "A",
            f"{GPU}.memory": "1",
            "huawei.com/Ascend910.product": "B",
            "huawei.com/Ascend910.memory": "1",
        },
        {
            f"{GPU}.product": "A",
            f"{GPU}.memory": "lots",
            f"{GPU}.replicas": "x",
            f"{GPU}.sharing-strategy": "mps",
        },
    ],
)
def test_bad_labels_hurt_nobody_else(team: Team, labels: dict[str, str]) -> None:
    """D9: that node's cards are not counted, the others' are, and pods are judged as before."""
    team.has_queue({T1000: 3})
    before = {card: allocatable(team, card) for card in (H200, T1000)}
    node = a_node(f"{team.prefix}-bad")
    for key, value in labels.items():
        node = node.labelled(key, value)
    with a_node_of(team, node.offering(4, f"{GPU}.shared")):
        assert team.create(team.a_pod("a", 3, T1000)).ok
        team.until_open("a")
        assert team.create(team.a_pod("b", 1, T1000)).reason == v.Reason.INSUFFICIENT_CARD
        assert {card: allocatable(team, card) for card in before} == before


def test_a_node_that_counts_a_card_by_another_resource_is_reported_and_not_counted(
    team: Team,
) -> None:
    """D7: the first stays, for everybody."""
    team.has_queue({T1000: 3})
    before = allocatable(team, T1000)
    node = a_node(f"{team.prefix}-other").with_cards(T1000, "4", "amd.com/gpu")
    with a_node_of(team, node):
        path = f"/api/v1/namespaces/default/events?fieldSelector=involvedObject.name={node.name}"

        def told() -> list[str]:
            events = ask(team.cluster, "GET", path).body["items"]
            return [e["message"] for e in events if e["reason"] == v.NOT_COUNTED]

        (message,) = team.until(told, "reported")
        assert message == (
            f"cards of node <{node.name}> are not counted: card <{T1000}> is counted as {GPU} on "
            "other nodes, but as amd.com/gpu here; correct the node's labels or its device plugin"
        )
        assert allocatable(team, T1000) == before
        other = team.create(team.a_pod("a", 0, T1000).asking_for(1, "amd.com/gpu"))
        assert other.reason == v.Reason.INVALID_CARD
        assert f"is counted as {GPU}, but the containers ask for amd.com/gpu" in other.message
        assert team.create(team.a_pod("b", 3, T1000)).ok
        team.until_open("b")


def test_labels_that_vanish_change_nothing_for_who_runs_there(team: Team) -> None:
    """D8, and D1: the number is allocatable, whatever the label `count` says."""
    card = f"{team.prefix}-card"
    node = a_node(f"{team.prefix}-bare").with_cards(card, "4").labelled(f"{GPU}.count", "9")
    with a_node_of(team, node):
        team.until(lambda: allocatable(team, card) == 4, "counted")
        team.has_queue({card: 2})
        assert team.create(team.a_pod("a", 2, card)).ok
        team.until_bound("a")
        team.until_row(card, allocated=2)
        bare = {"metadata": {"labels": {f"{GPU}.product": None, f"{GPU}.memory": None}}}
        assert team.patch(node, bare).ok
        team.until(lambda: allocatable(team, card) == 0, "not offered")
        refused = team.create(team.a_pod("b", 1, card))
        assert refused.reason == v.Reason.INSUFFICIENT_CARD
        assert "requested <1>, total would be <3>, but capability is <2>" in refused.message
        assert team.row(card)["allocated"] == 2
        assert team.delete(team.a_pod("a")).ok
        team.until_row(card, allocated=0, requested=0)


def test_a_new_kind_of_card_is_known_as_soon_as_its_node_is(team: Team) -> None:
    """D1, P4, and D8: known still when the node is gone, for there is a quota."""
    card = f"{team.prefix}-card"
    with a_node_of(team, a_node(f"{team.prefix}-new").with_cards(card, "4")):
        team.until(lambda: allocatable(team, card) == 4, "counted")
        team.has_queue({card: 2})
        assert team.create(team.a_pod("a", 1, card)).warnings == ()
        team.until_row(card, quota=2, resource=GPU)
    team.until(lambda: allocatable(team, card) == 0, "gone")
    reply = team.create(team.a_pod("b", 1, card))
    assert reply.ok
    assert "no node has card" in reply.warnings[0]


@pytest.mark.parametrize(
    ("resource", "label", "product"),
    [
        ("amd.com/gpu", "amd.com/gpu.product-name", "AMD_Instinct_MI300X_OAM"),
        ("huawei.com/Ascend910", "node.kubernetes.io/npu.chip.name", "910B3"),
        ("cambricon.com/mlu370", "Model", "MLU370-X8"),
    ],
)
def test_a_card_is_what_its_makers_own_labels_say(
    team: Team, resource: str, label: str, product: str
) -> None:
    """D6, P5: the gate opens to nodes with that very label; a stock pod finds its card (P3)."""
    node = a_node(f"{team.prefix}-maker").labelled(label, product).offering(2, resource)
    with a_node_of(team, node):
        team.until(lambda: allocatable(team, product) == 2, "counted")
        team.has_queue({product: 2})
        assert team.create(team.a_pod("named", 0, product).asking_for(1, resource)).warnings == ()
        assert team.create(team.a_pod("stock").asking_for(1, resource)).ok
        team.until_bound("named", "stock")
        for name in ("named", "stock"):
            pod = team.pod(name)
            assert pod["spec"]["nodeName"] == node.name
            affinity = pod["spec"]["affinity"]["nodeAffinity"]
            (term,) = affinity["requiredDuringSchedulingIgnoredDuringExecution"][
                "nodeSelectorTerms"
            ]
            named = {"key": label, "operator": "In", "values": [product]}
            assert named in term["matchExpressions"]
        team.until_row(product, allocated=2, resource=resource)
        third = team.create(team.a_pod("third", 0, product).asking_for(1, resource))
        assert third.reason == v.Reason.INSUFFICIENT_CARD
        for name in ("named", "stock"):
            assert team.delete(team.a_pod(name)).ok

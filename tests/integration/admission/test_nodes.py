"""Nodes with labels that cannot be read (D9), and a node that disagrees (D7)."""

import pytest

from builders import GPU, a_node
from cardquota.quota import vocabulary as v
from integration.asking import metric
from integration.own_node import a_node_of
from integration.team import Team


def allocatable(team: Team, card: str) -> float:
    return metric(team.cluster, "cardquota_cluster_card_allocatable", card=card)


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

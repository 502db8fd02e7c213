"""What is used outside every queue, and by whom (section 2, V5)."""

from builders import GPU, H200, H800, a_node, a_pod
from builders.pod import PodBody
from cardquota.quota.reports import OutsideUse
from cardquota.quota.reports.cluster_report import outside_use

from ..red_queue import POD, a_cluster

H200_NODE = a_node("h200-x").with_cards(H200, 8)
H800_NODE = a_node("h800-x").with_cards(H800, 8)


def bound(name: str, cards: int, node: str = "h200-x", namespace: str = "team") -> PodBody:
    pod = a_pod(name).with_uid(f"{namespace}-{name}").in_namespace(namespace)
    return pod.asking_for(cards).on_node(node)


def test_v5_by_card_the_most_first_and_who() -> None:
    ledger = a_cluster(
        H200_NODE,
        H800_NODE,
        bound("b", 1),
        bound("a", 1),
        bound("c", 4, "h800-x"),
        bound("d", 1, namespace="other"),
        bound("e", 1).in_queue("red").with_uid("e"),
        POD.with_uid("waits").gated(),
        a_pod("plain").with_uid("plain").on_node("h200-x"),
    )
    found = outside_use(ledger)
    assert found == OutsideUse(4, {H800: 4, H200: 3}, ("other/d", "team/a", "team/b"))
    assert list(found.cards) == [H800, H200]
    assert outside_use(ledger, "other") == OutsideUse(1, {H200: 1}, ("other/d",))


def test_v5_a_few_are_named() -> None:
    pods = [bound(f"p{number}", 1) for number in range(6)]
    found = outside_use(a_cluster(H200_NODE, *pods))
    assert (found.pods, len(found.first)) == (6, 3)
    assert found.cards == {H200: 6}
    assert GPU not in found.cards

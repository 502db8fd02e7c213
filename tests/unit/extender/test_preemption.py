"""Victims that really free one card."""

from builders import GPU, H200, Body, a_ledger, a_node, a_pod
from builders.node import NodeBody
from builders.pod import PodBody
from cardquota.extender import victims_by_node
from cardquota.quota import vocabulary as v

CARD = 16276


def sharing(name: str = "n1") -> NodeBody:
    return a_node(name).sharing_memory(2 * CARD, 2)


def on(name: str, card: int | str, amount: int, node: str = "n1") -> PodBody:
    return a_pod(name).on_card(node, card, amount)


def victims(amount: int, proposed: list[str], *things: Body) -> list[str] | None:
    pod = a_pod("new").asking_for_memory(amount)
    uids = [f"uid-{name}" for name in proposed]
    found = victims_by_node(a_ledger(*things), pod.facts(), {"n1": uids}).get("n1")
    return None if found is None else [uid.removeprefix("uid-") for uid in found]


FULL = sharing(), on("a", 0, 8138), on("b", 0, 8138), on("c", 1, 8138), on("d", 1, 8138)


def test_b7_the_pods_of_one_card() -> None:
    assert victims(CARD, ["a", "c"], *FULL) is None
    assert victims(CARD, ["a", "x"], *FULL) is None, "only pods that were proposed"
    assert victims(CARD, ["a", "c", "d"], *FULL) == ["c", "d"]
    assert victims(8138, ["a", "c"], *FULL) == ["a"]


def test_b7_the_fewest_and_the_least_important_first() -> None:
    things = sharing(), on("a", 0, 4069), on("b", 0, 12207), on("c", 1, 4069), on("d", 1, 12207)
    assert victims(12207, ["a", "b", "c", "d"], *things) == ["b"]
    assert victims(4069, ["a", "b"], *things, on("e", 1, 0)) == ["b"]


def test_b7_who_is_not_needed_is_let_off() -> None:
    things = sharing(), on("a", 0, 12207), on("b", 0, 4069), on("c", 1, CARD)
    assert victims(12207, ["a", "b"], *things) == ["a"]
    assert victims(4069, ["a", "b"], *things) == ["b"]


def test_b7_nobody_ends_where_there_is_room() -> None:
    """kube-scheduler takes an empty list of victims for a fault of ours."""
    assert victims(8138, ["a"], sharing(), on("a", 0, CARD)) is None
    assert victims(8138, [], *FULL) is None


def test_b7_a_broken_card_is_freed_in_vain() -> None:
    node = sharing().annotated(v.UNHEALTHY_CARDS, "0")
    holders = on("a", 0, CARD), on("b", 1, CARD)
    assert victims(CARD, ["b", "a"], node, *holders) == ["b"]
    assert victims(CARD, ["a"], node, *holders) is None


def test_b7_pods_whose_card_is_not_known_may_be_on_any() -> None:
    things = sharing(), on("a", 0, 8138), on("b", "x", 8138), on("c", 1, CARD)
    assert victims(CARD, ["a"], *things) is None
    assert victims(CARD, ["a", "b"], *things) == ["a", "b"]


def test_b7_what_the_node_offers_in_all_must_suffice_too() -> None:
    node = sharing().offering(CARD + 8138, v.GPU_MEMORY).with_capacity(2 * CARD, v.GPU_MEMORY)
    things = node, on("a", 0, 8138), on("b", 0, 4069), on("c", 1, 8138), on("d", 1, 4069)
    assert victims(8138, ["a", "b"], *things) == ["a"]
    assert victims(8138, ["b"], *things) is None


def test_b7_nodes_that_cannot_take_the_pod() -> None:
    assert victims(8138, ["a"]) is None
    assert victims(8138, ["a"], a_node("n1").with_cards(H200, 8)) is None
    both = a_pod("new").asking_for_memory(1).asking_for(1)
    assert victims_by_node(a_ledger(sharing()), both.facts(), {"n1": []}) == {}


def test_b7_for_a_pod_by_card_the_proposal_stands_where_it_may_go() -> None:
    ledger = a_ledger(sharing("n1"), a_node("n2").with_cards(H200, 8))
    pod = a_pod("new").asking_for(1, GPU).facts()
    found = victims_by_node(ledger, pod, {"n1": ["x"], "n2": ["y"], "n3": ["z"]})
    assert found == {"n2": ["y"]}

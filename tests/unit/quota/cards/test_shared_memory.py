"""Who holds which card: followed event by event, and what cannot be read is never free."""

import pytest

from builders import GPU, H200, Body, a_ledger, a_node, a_pod, see
from builders.node import NodeBody
from builders.pod import PodBody
from cardquota.quota import vocabulary as v
from cardquota.quota.cards import MemoryNode, NodeKind
from cardquota.quota.ledger import Ledger

CARD = 16276
NODE = a_node("n1").sharing_memory(4 * CARD, 4)


def world(*things: Body) -> Ledger:
    return a_ledger(*things)


def node_of(ledger: Ledger, name: str = "n1") -> MemoryNode:
    found = ledger.card_memory.nodes.get(name)
    assert found is not None
    return found


def on(card: int | str, amount: int, name: str = "p", node: str = "n1") -> PodBody:
    return a_pod(name).on_card(node, card, amount)


def test_b2_what_the_pod_asks_for_counts_not_what_its_annotation_says() -> None:
    ledger = world(NODE, on(0, 4069).annotated(v.GPU_MEMORY_OF_POD, "1"))
    assert node_of(ledger).unknown == 4069


def test_nothing_is_left_of_a_node_without_pods() -> None:
    ledger = world(NODE, on(0, 1))
    ledger.card_memory.unhealthy_seen("n1", "x")
    ledger.card_memory.unhealthy_gone("n1")
    ledger.pod_gone("uid-p")
    ledger.node_gone("n1")
    assert not ledger.card_memory.nodes
    ledger.node_gone("n1")
    ledger.card_memory.release("n1", "uid-p")


@pytest.mark.parametrize("bad", ["1, 2", "GPU-8f6a9a3e-0000", "1000000000", "4", "0 "])
def test_b2_a_bad_list_is_reported_and_changes_nothing(bad: str) -> None:
    ledger = world(NODE)
    memory = ledger.card_memory
    memory.unhealthy_seen("n1", "1")
    memory.unhealthy_seen("n1", bad)
    assert node_of(ledger).free == [CARD, 0, CARD, CARD]
    assert bad in memory.problems("n1")[0]
    memory.unhealthy_seen("n1", "")
    assert node_of(ledger).free == [CARD] * 4
    assert memory.problems("n1") == []


# --- the kind of a node ----


def by_card(name: str = "n1") -> NodeBody:
    return a_node(name).with_cards(H200, 8)


def both(name: str = "n1") -> NodeBody:
    return by_card(name).sharing_memory(4 * CARD, 4)


def holder(name: str = "w") -> PodBody:
    return a_pod(name).asking_for(1).on_node("n1")


@pytest.mark.parametrize(
    ("things", "kind"),
    [
        ([NODE], NodeKind.BY_MEMORY),
        ([by_card()], NodeKind.BY_CARD),
        ([a_node("n1").offering(8, GPU)], NodeKind.BY_CARD),
        ([a_node("n1")], NodeKind.NEITHER),
        ([both()], NodeKind.UNDECIDED),
        ([both(), holder()], NodeKind.BY_CARD),
        ([both(), on(0, 1)], NodeKind.BY_MEMORY),
        ([both(), on(0, 1), holder()], NodeKind.MIXED),
        ([NODE, holder()], NodeKind.BY_CARD),
        ([by_card(), on(0, 1)], NodeKind.BY_MEMORY),
        ([NODE.offering(0, GPU)], NodeKind.BY_MEMORY),
        ([NODE.offering("x", GPU)], NodeKind.BY_MEMORY),
    ],
)
def test_b3_the_kind_of_a_node(things: list[Body], kind: NodeKind) -> None:
    assert node_of(world(*things)).kind is kind


# --- what is decided, and was not seen yet ----


def test_b5_the_times_of_a_node_go_on_from_the_latest_that_was_seen() -> None:
    ledger = world(NODE, on(0, 1, "a").annotated(v.GPU_MEMORY_ASSUMED_AT, "1700000000000000000"))
    assert node_of(ledger).latest == 1700000000000000000
    see(ledger, on(0, 1, "b").annotated(v.GPU_MEMORY_ASSUMED_AT, "9" * 19))
    see(ledger, on(0, 1, "c").annotated(v.GPU_MEMORY_ASSUMED_AT, "soon"))
    assert node_of(ledger).latest == 1700000000000000000


def test_b5_the_least_free_card_that_fits() -> None:
    ledger = world(NODE, on(0, 4069, "a"), on(1, 8138, "b"), on(2, 12207, "c"))
    node = node_of(ledger)
    assert node.card_for(8138) == 1
    assert node.card_for(8139) == 0
    assert node.card_for(4069) == 2
    assert node.card_for(CARD) == 3
    assert node.card_for(CARD + 1) is None
    assert node.card_for(0) is None


# --- what is told ----


def test_b2_what_people_are_told_of() -> None:
    ledger = world(NODE, on(0, 1, "fine"))
    memory = ledger.card_memory
    assert memory.take_untold() is None
    see(ledger, on("x", 1))
    assert memory.take_untold() == "n1"
    memory.tell_all()
    assert memory.take_untold() == "n1"
    ledger.pod_gone("uid-p")
    assert memory.take_untold() == "n1"
    memory.tell_all()
    assert memory.take_untold() is None
    assert memory.problems("other") == []
    assert memory.unknown_pods("n1") == []


def test_b2_that_a_node_is_gone_is_looked_at_too() -> None:
    """Or it would not be told of again when it comes back."""
    ledger = world(NODE.annotated(v.UNHEALTHY_CARDS, "x"))
    assert ledger.card_memory.take_untold() == "n1"
    ledger.node_gone("n1")
    assert ledger.card_memory.take_untold() == "n1"
    assert ledger.card_memory.take_untold() is None

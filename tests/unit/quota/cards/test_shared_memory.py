"""Who holds which card: followed event by event, and what cannot be read is never free."""

import pytest

from builders import GPU, H200, Body, a_ledger, a_node, a_pod, see
from builders.node import NodeBody
from builders.pod import PodBody
from cardquota.quota import vocabulary as v
from cardquota.quota.cards import UNKNOWN, CardPlacement, MemoryNode, MemoryPod, NodeKind
from cardquota.quota.ledger import Ledger

CARD = 16276
NODE = a_node("n1").sharing_memory(4 * CARD, 4)


def world(*things: Body) -> Ledger:
    return a_ledger(*things)


def node_of(ledger: Ledger, name: str = "n1") -> MemoryNode:
    found = ledger.card_memory.get(name)
    assert found is not None
    return found


def on(card: int | str, amount: int, name: str = "p", node: str = "n1") -> PodBody:
    return a_pod(name).on_card(node, card, amount)


@pytest.mark.parametrize("index", ["4", "-1", "x", "1.0", "", "99999999999", "0x1", "1 "])
def test_b2_a_card_that_cannot_be_read_is_charged_to_the_node(index: str) -> None:
    ledger = world(NODE, on(index, 4069))
    node = node_of(ledger)
    assert (node.used, node.unknown) == ([0] * 4, 4069)
    assert node.free == [CARD - 4069] * 4
    assert [pod.name for pod in ledger.card_memory.unknown_pods("n1")] == ["p"]


def test_b2_a_pod_without_annotations_is_charged_to_the_node() -> None:
    ledger = world(NODE, a_pod("p").asking_for_memory(4069).on_node("n1"))
    assert node_of(ledger).unknown == 4069
    facts = ledger.pods["uid-p"].facts
    assert facts.placement is not None
    assert facts.placement.problem == "it has no annotation ALIYUN_COM_GPU_MEM_IDX"


def test_b2_what_the_pod_asks_for_counts_not_what_its_annotation_says() -> None:
    ledger = world(NODE, on(0, 4069).annotated(v.GPU_MEMORY_OF_POD, "1"))
    assert node_of(ledger).unknown == 4069


def test_b2_a_node_whose_cards_change_is_right_at_once() -> None:
    ledger = world(NODE, on(3, 4069, "a"), on(1, 100, "b"))
    see(ledger, NODE.sharing_memory(2 * CARD, 2).at_revision(2))
    assert (node_of(ledger).used, node_of(ledger).unknown) == ([0, 100], 4069)
    see(ledger, NODE.at_revision(3))
    assert (node_of(ledger).used, node_of(ledger).unknown) == ([0, 100, 0, 4069], 0)
    assert node_of(ledger).card_of("uid-a") == 3


def test_nothing_is_left_of_a_node_without_pods() -> None:
    ledger = world(NODE, on(0, 1))
    ledger.card_memory.unhealthy_seen("n1", "x")
    ledger.card_memory.unhealthy_gone("n1")
    ledger.pod_gone("uid-p")
    ledger.node_gone("n1")
    assert not ledger.card_memory.nodes
    ledger.node_gone("n1")
    ledger.card_memory.release("n1", "uid-p")


def test_b2_a_broken_card_has_nothing_free() -> None:
    ledger = world(NODE.annotated(v.UNHEALTHY_CARDS, "0"), on(0, 4069))
    ledger.card_memory.unhealthy_seen("n1", "3")
    assert node_of(ledger).free == [0, CARD, CARD, 0]
    assert node_of(ledger).used[0] == 4069
    ledger.card_memory.unhealthy_gone("n1")
    see(ledger, NODE.at_revision(2))
    assert node_of(ledger).free == [CARD - 4069, CARD, CARD, CARD]


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


def assumed(amount: int, card: int = 0) -> MemoryPod:
    return MemoryPod("team", "p", CardPlacement(card, amount, assumed_at=7))


def test_b5_what_is_being_bound_counts_until_it_is_seen() -> None:
    ledger = world(NODE, a_pod("p").asking_for_memory(4069))
    ledger.card_memory.assume("n1", "uid-p", assumed(4069))
    assert node_of(ledger).used == [4069, 0, 0, 0]
    see(ledger, on(0, 4069).at_revision(2))
    assert node_of(ledger).used == [4069, 0, 0, 0]
    assert not ledger.card_memory.assumed


def test_b5_the_times_of_a_node_go_on_from_the_latest_that_was_seen() -> None:
    ledger = world(NODE, on(0, 1, "a").annotated(v.GPU_MEMORY_ASSUMED_AT, "1700000000000000000"))
    assert node_of(ledger).latest == 1700000000000000000
    see(ledger, on(0, 1, "b").annotated(v.GPU_MEMORY_ASSUMED_AT, "9" * 19))
    see(ledger, on(0, 1, "c").annotated(v.GPU_MEMORY_ASSUMED_AT, "soon"))
    assert node_of(ledger).latest == 1700000000000000000


# --- which card ----


def test_b5_the_least_free_card_that_fits() -> None:
    ledger = world(NODE, on(0, 4069, "a"), on(1, 8138, "b"), on(2, 12207, "c"))
    node = node_of(ledger)
    assert node.card_for(8138) == 1
    assert node.card_for(8139) == 0
    assert node.card_for(4069) == 2
    assert node.card_for(CARD) == 3
    assert node.card_for(CARD + 1) is None
    assert node.card_for(0) is None


def test_b5_of_equal_cards_the_first() -> None:
    node = node_of(world(NODE.annotated(v.UNHEALTHY_CARDS, "0")))
    assert node.card_for(1) == 1


def test_b5_spread_takes_the_emptiest() -> None:
    node = node_of(world(NODE, on(0, 1, "a"), on(1, 1, "b")))
    assert node.card_for(1, spread=True) == 2


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


def test_b2_of_a_broken_list_of_a_node_that_is_not_there_nothing_is_told() -> None:
    ledger = world()
    ledger.card_memory.unhealthy_gone("n1")
    assert ledger.card_memory.take_untold() is None


def test_a_pod_by_card_holds_no_memory() -> None:
    ledger = world(both(), holder())
    assert node_of(ledger).pods == {}
    assert node_of(ledger).free == [CARD] * 4
    with pytest.raises(KeyError):
        node_of(ledger).card_of("uid-w")
    assert UNKNOWN < 0


def test_b2_broken_cards_stay_broken_while_the_cards_cannot_be_read() -> None:
    """How many there are is not known then, so no list is read: the last good one stays."""
    ledger = world(a_node("n1").sharing_memory(20, 2).annotated(v.UNHEALTHY_CARDS, "0"))
    see(ledger, a_node("n1").sharing_memory(20, 0).annotated(v.UNHEALTHY_CARDS, "0,x"))
    assert node_of(ledger).free == []
    see(ledger, a_node("n1").sharing_memory(20, 2).annotated(v.UNHEALTHY_CARDS, "0,x"))
    assert node_of(ledger).free == [0, 10]
    see(ledger, a_node("n1").sharing_memory(20, 2))
    assert node_of(ledger).free == [10, 10]

"""One number of a node says whether a pod by memory fits, and tells reasons apart."""

from itertools import product

import pytest

from builders import GPU, H200, Body, a_node, a_pod
from cardquota.quota import LARGEST
from cardquota.quota import vocabulary as v
from cardquota.quota.cards import UNHEARD, MemoryNode, least_key, reason_of
from cardquota.quota.cards.memory_node import fit_key
from cardquota.quota.scheduling import why_no_memory

from .test_card_memory import world

CARD = 16276
NODE = a_node("n1").sharing_memory(2 * CARD, 2)
WHOLE = a_pod("w").asking_for(1).on_node("n1")
NODES: dict[str, tuple[Body, ...]] = {
    "empty": (NODE,),
    "in use": (NODE, a_pod("a").on_card("n1", 0, 4069)),
    "full": (NODE, a_pod("a").on_card("n1", 0, CARD), a_pod("b").on_card("n1", 1, CARD)),
    "one broken": (NODE.annotated(v.UNHEALTHY_CARDS, "1"),),
    "all broken": (NODE.annotated(v.UNHEALTHY_CARDS, "0,1"),),
    "small": (a_node("n1").sharing_memory(8000, 1),),
    "in GiB": (a_node("n1").sharing_memory(32, 2),),
    "largest": (a_node("n1").sharing_memory(LARGEST, 1),),
    "undecided": (NODE.offering(8, GPU),),
    "decided": (NODE.offering(8, GPU), WHOLE),
    "mixed": (NODE.offering(8, GPU), WHOLE, a_pod("a").on_card("n1", 0, 1)),
    "by card": (a_node("n1").with_cards(H200, 8),),
    "no cards": (a_node("n1"),),
    "unreadable": (a_node("n1").offering(8, v.GPU_MEMORY),),
    "not there": (a_pod("a").on_card("n1", 0, 1),),
}
NEEDS = (1, 8, 16, 17, 8000, 8138, CARD, CARD + 1, LARGEST)


def node_of(kind: str) -> MemoryNode:
    node = world(*NODES[kind]).card_memory.get("n1")
    assert node is not None
    return node


@pytest.mark.parametrize("kind", NODES)
def test_b4_a_pod_fits_where_the_key_is_not_below_its_own(kind: str) -> None:
    node = node_of(kind)
    for need in NEEDS:
        fits = node.takes_memory and node.card_for(need) is not None
        assert (fit_key(node) >= least_key(need)) is fits, need


@pytest.mark.parametrize(("one", "other"), list(product(NODES, NODES)))
def test_b4_nodes_of_one_reason_refuse_in_the_same_words(one: str, other: str) -> None:
    first, second = node_of(one), node_of(other)
    if reason_of(fit_key(first)) == reason_of(fit_key(second)):
        for need in NEEDS:
            assert why_no_memory(first, need) == why_no_memory(second, need)


def test_b4_nodes_that_hold_more_or_less_have_one_reason() -> None:
    """Else it would be worked out for each of thousands."""
    assert len({reason_of(fit_key(node_of(kind))) for kind in ("empty", "in use", "full")}) == 1


def test_no_node_is_taken_for_one_that_nobody_has_heard_of() -> None:
    keys = [fit_key(node_of(kind)) for kind in NODES]
    assert UNHEARD not in keys
    assert least_key(1) > UNHEARD
    assert reason_of(UNHEARD) not in {reason_of(key) for key in keys}

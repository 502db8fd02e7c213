"""B10, D9: the memory of a node's cards, and which label names their product."""

import pytest

from builders import GPU, a_node
from builders.node import NodeBody
from cardquota.quota import GPU_PRODUCT

SHARED = a_node().sharing_memory(32_552, 2)
A10 = "NVIDIA-A10"


def found(node: NodeBody) -> tuple[dict[str, int], tuple[str, ...]]:
    facts = node.facts()
    return {card.name: amount for card, amount in facts.cards}, facts.problems


@pytest.mark.parametrize(
    ("node", "label"),
    [
        (SHARED.labelled(GPU_PRODUCT, A10), GPU_PRODUCT),
        (SHARED.showing(A10), f"{GPU}.product"),
        (SHARED.showing(A10).labelled(GPU_PRODUCT, A10), GPU_PRODUCT),
    ],
)
def test_b10_a_product_by_either_label(node: NodeBody, label: str) -> None:
    ((card, amount),) = node.facts().cards
    assert (card.name, card.resource, amount) == (f"{A10}/gpu-mem", "aliyun.com/gpu-mem", 32_552)
    assert (card.labels, card.unit) == (((label, A10),), "MiB")
    assert node.facts().problems == ()


def test_d9_b10_two_products() -> None:
    node = SHARED.showing(A10).labelled(GPU_PRODUCT, "Tesla-T4").offering(2)
    problem = f"the node has labels of 2 products ({GPU}.product={A10}, {GPU_PRODUCT}=Tesla-T4)"
    assert found(node) == ({}, (problem,))


def test_d9_b10_the_label_means_nothing_where_no_memory_is_shared() -> None:
    node = a_node().with_cards(A10, 2).labelled(GPU_PRODUCT, "Tesla-T4")
    assert found(node) == ({A10: 2}, ())


def test_d5_b10_whole_cards_and_their_memory() -> None:
    node = SHARED.with_cards(A10, 2).labelled(GPU_PRODUCT, A10)
    assert found(node) == ({A10: 2, f"{A10}/gpu-mem": 32_552}, ())
    assert node.facts().whole == {GPU}


@pytest.mark.parametrize("node", [SHARED, a_node().sharing_memory(5, 0).labelled(GPU_PRODUCT, A10)])
def test_b10_without_a_product_or_cards_there_is_nothing_to_ask_for(node: NodeBody) -> None:
    assert found(node) == ({}, ())


def test_d9_b10_a_label_that_cannot_be_a_product() -> None:
    cards, (problem,) = found(SHARED.labelled(GPU_PRODUCT, "a/b"))
    assert cards == {}
    assert problem == f"label {GPU_PRODUCT}: <a/b> cannot be the product of card memory"

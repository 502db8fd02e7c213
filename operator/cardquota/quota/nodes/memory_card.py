"""The memory of a node's cards as a card that queues have quota for (B10): `NVIDIA-A10/gpu-mem`.

It is found on every node that shares its cards, and counts only while some quota has a row for any:
the ledger decides on that.
"""

from collections.abc import Mapping
from dataclasses import replace

from .. import vocabulary as v
from ..card_memory.memory_shape import MemoryShape
from ..cards.card import Card, can_exist, memory_card
from ..cards.discovery import NodeCards
from ..words import show


def with_memory(found: NodeCards, labels: Mapping[str, str], memory: MemoryShape) -> NodeCards:
    """The cards of a node, and the memory that it shares, in its unit.

    Its product is what the label of the device plugin for shared cards says, else that of its whole
    cards. Where the two disagree nothing of the node counts (D9). Where neither is there nobody can
    ask for the card, so nothing is wrong with the node: by its memory it still takes pods.
    """
    own, whole = labels.get(v.GPU_PRODUCT), labels.get(found.product_label)
    if own is not None and whole not in (None, own):
        pairs = f"{found.product_label}={show(whole or '')}, {v.GPU_PRODUCT}={show(own)}"
        return NodeCards((), (f"the node has labels of 2 products ({pairs})",))
    key, product = (v.GPU_PRODUCT, own) if own is not None else (found.product_label, whole)
    if product is None or not memory.sizes:
        return found  # cards of no readable size are reported with the node's memory
    if not can_exist(product):
        problem = f"label {key}: <{show(product)}> cannot be the product of card memory"
        return replace(found, problems=(*found.problems, problem))
    card = Card(memory_card(product), v.GPU_MEMORY, ((key, product),), unit=memory.unit.value)
    return replace(found, cards=(*found.cards, (card, memory.allocatable)))

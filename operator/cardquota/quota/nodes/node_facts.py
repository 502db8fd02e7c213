"""What is kept of a node: its cards, and its labels, by which pods pick it."""

from bisect import bisect_left
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache
from sys import intern

from .. import vocabulary as v
from ..amounts import Quantity, QuantityError, count
from ..cards.card import Card, Labels, can_exist, memory_card
from ..cards.discovery import NodeCards, discover
from ..cards.memory_shape import MemoryShape, read_shape
from ..cards.vendor_table import VendorTable
from ..limits import NODE_LABELS, NODE_RESOURCES, NODE_TAINTS
from ..messages import report_messages
from ..objects.node import Node
from ..selectors.selector import Taints, taints_of
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


@dataclass(slots=True, frozen=True, kw_only=True)
class NodeFacts:
    """One node. Amounts are cards."""

    name: str
    uid: str
    revision: int = field(compare=False)
    cards: tuple[tuple[Card, int], ...]
    problems: tuple[str, ...]
    """Why some of its cards are not counted (D9)."""
    takes_pods: bool = True
    """Whether it is ready and not cordoned."""
    taints: Taints = ()
    """Taints that keep pods away."""
    memory: MemoryShape | None = None
    """Its cards whose memory is shared, if it has any."""
    whole: frozenset[str] = frozenset()
    """Resource names of the cards that it offers otherwise: whole ones, slices and shares."""
    labels: Labels = ()
    """Sorted by key. Nodes of a pool share most of their labels as objects."""


def node_facts(node: Node, vendors: VendorTable) -> NodeFacts:
    """Read a node. Never raises: what is wrong with its labels is in `problems`."""
    labels = node.metadata.labels or {}
    problem, status = _beyond_limits(node), node.status
    memory = None
    if problem:
        labels, found = {}, NodeCards((), (problem,))
    else:
        offered, notes = status.allocatable or {}, node.metadata.annotations
        found = discover(labels, offered, vendors)
        texts = (notes.card_memory, notes.unhealthy_cards) if notes is not None else (None, None)
        memory = read_shape(offered, status.capacity or {}, *texts)
        if memory is not None:
            found = with_memory(found, labels, memory)
    return NodeFacts(
        name=node.metadata.name,
        uid=node.metadata.uid,
        revision=int(node.metadata.resource_version or 0),
        cards=found.cards,
        problems=found.problems,
        takes_pods=_ready(node) and not node.spec.unschedulable,
        taints=() if problem else taints_of(node.spec.taints),
        memory=memory,
        whole=frozenset() if problem else _whole(node, found, vendors),
        labels=tuple(sorted(_pair(key, value) for key, value in labels.items())),
    )


def _whole(node: Node, found: NodeCards, vendors: VendorTable) -> frozenset[str]:
    """A maker's resource counts though no label says of which product it is: the card is there."""
    counted = {card.resource for card, amount in found.cards if amount}
    unnamed = {
        name
        for name, value in (node.status.allocatable or {}).items()
        if vendors.owner(name) is not None and _offers(value)
    }
    return _resources(frozenset(counted | unnamed) - {v.GPU_MEMORY})


def _offers(value: Quantity) -> bool:
    try:
        return count(value) > 0
    except QuantityError:
        return False


@lru_cache(maxsize=256)
def _resources(names: frozenset[str]) -> frozenset[str]:
    """One object for equal sets."""
    return names


def _beyond_limits(node: Node) -> str:
    """The first limit that the node exceeds, as a sentence (P8); empty if none."""
    for limit, found in (
        (NODE_LABELS, node.metadata.labels),
        (NODE_TAINTS, node.spec.taints),
        (NODE_RESOURCES, node.status.allocatable),
    ):
        if found is not None and len(found) > limit.most:
            return report_messages.node_beyond_limit(limit, len(found))
    return ""


def label_of(labels: Labels, key: str) -> str | None:
    """The value under a key among sorted labels."""
    place = bisect_left(labels, (key,))
    return labels[place][1] if place < len(labels) and labels[place][0] == key else None


def _ready(node: Node) -> bool:
    """A node without a Ready condition comes from a file: it counts as ready."""
    ready = [c.status for c in node.status.conditions or () if c.type == "Ready"]
    return ready in ([], ["True"])


@lru_cache(maxsize=4096)  # of labels, which Kubernetes keeps below 400 characters
def _pair(key: str, value: str) -> tuple[str, str]:
    """One object for equal labels: a node then costs one pointer for most of its labels."""
    return intern(key), value

"""What is kept of a node: its cards, and its labels, by which pods pick it."""

from dataclasses import dataclass, field
from functools import lru_cache
from sys import intern

from ..cards.card import Card, Labels
from ..cards.discovery import NodeCards, discover
from ..cards.vendor_table import VendorTable
from ..limits import NODE_LABELS, NODE_RESOURCES, NODE_TAINTS
from ..messages import report_messages
from ..objects.node import Node
from ..selectors.taints import Taints, taints_of


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
    labels: Labels = ()
    """Sorted by key. Nodes of a pool share most of their labels as objects."""


def node_facts(node: Node, vendors: VendorTable) -> NodeFacts:
    """Read a node. Never raises: what is wrong with its labels is in `problems`."""
    labels = node.metadata.labels or {}
    problem = _beyond_limits(node)
    if problem:
        labels, found = {}, NodeCards((), (problem,))
    else:
        found = discover(labels, node.status.allocatable or {}, vendors)
    return NodeFacts(
        name=node.metadata.name,
        uid=node.metadata.uid,
        revision=int(node.metadata.resource_version or 0),
        cards=found.cards,
        problems=found.problems,
        takes_pods=_takes_pods(node),
        taints=() if problem else taints_of(node.spec.taints),
        labels=tuple(sorted(_pair(key, value) for key, value in labels.items())),
    )


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


def _takes_pods(node: Node) -> bool:
    """A node without a Ready condition comes from a file: it counts as ready."""
    ready = [c.status for c in node.status.conditions or () if c.type == "Ready"]
    return not node.spec.unschedulable and ready in ([], ["True"])


@lru_cache(maxsize=4096)  # of labels, which Kubernetes keeps below 400 characters
def _pair(key: str, value: str) -> tuple[str, str]:
    """One object for equal labels: a node then costs one pointer for most of its labels."""
    return intern(key), value

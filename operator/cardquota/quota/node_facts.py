"""What is kept of a node: its cards, and whether it takes pods now."""

from dataclasses import dataclass, field

from .card import Card
from .discovery import discover
from .objects import Node


@dataclass(slots=True, frozen=True, kw_only=True)
class NodeFacts:
    """One node. Amounts are cards."""

    name: str
    uid: str
    revision: int = field(compare=False)
    cards: tuple[tuple[Card, int], ...]
    problems: tuple[str, ...]
    """Why some of its cards are not counted (D9)."""


def node_facts(node: Node) -> NodeFacts:
    """Read a node. Never raises for odd labels: they are in `problems`."""
    found = discover(node.metadata.labels or {}, node.status.allocatable or {})
    return NodeFacts(
        name=node.metadata.name,
        uid=node.metadata.uid,
        revision=int(node.metadata.resource_version or 0),
        cards=found.cards,
        problems=found.problems,
    )

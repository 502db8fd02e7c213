"""What people see of the nodes: the cards that each offers, and how many are in use."""

from heapq import nsmallest
from typing import Final

from ..ledger.ledger_reader import LedgerReader
from ..objects.meta import Wire
from ..steps import Steps
from ..words import show

_LONGEST_PROBLEM: Final = 300
"""Characters."""
_AT_A_TIME: Final = 64
"""Nodes that one step looks at."""


class NodeCardRow(Wire):
    """One card of a node."""

    name: str
    offered: int
    """Cards; of card memory, in the node's unit."""
    used: int
    """Held by pods on the node, in whatever queue."""
    unit: str = ""
    """MiB or GiB of card memory; empty of cards."""


class NodeRow(Wire):
    """One node with cards."""

    name: str
    takes_pods: bool
    """Whether it is ready and not cordoned."""
    cards: tuple[NodeCardRow, ...]
    problem: str = ""
    """Why some of its cards are not counted (D9)."""

    @property
    def rank(self) -> tuple[int, int, str]:
        """By which nodes are sorted: the most free cards first, then the most in use."""
        cards = [card for card in self.cards if not card.unit]
        free = sum(card.offered - card.used for card in cards) if self.takes_pods else 0
        return -free, -sum(card.used for card in cards), self.name


class NodeReport(Wire):
    """The nodes with cards, those with the most free ones first, then those with most in use."""

    nodes: tuple[NodeRow, ...]
    more: int
    """How many others there are."""


def node_report(ledger: LedgerReader, most: int) -> Steps[NodeReport]:
    """In short steps. `most`: nodes that are listed. Costs by the nodes, and their cards."""
    first: list[NodeRow] = []
    total = 0
    every = [facts.name for facts in ledger.nodes.all()]
    for start in range(0, len(every), _AT_A_TIME):
        rows = (_row(ledger, name) for name in every[start : start + _AT_A_TIME])
        found = [row for row in rows if row is not None]
        total += len(found)
        first = nsmallest(most, [*first, *found], key=lambda row: row.rank)
        yield
    return NodeReport(nodes=tuple(first), more=total - len(first))


def _row(ledger: LedgerReader, name: str) -> NodeRow | None:
    """None: it is gone, or has nothing to do with cards."""
    nodes = ledger.nodes
    facts, used = nodes.get(name), nodes.free.used.get(name, {})
    if facts is None:
        return None
    cards = tuple(
        NodeCardRow(name=card.name, offered=n, used=used.get(card.resource, 0), unit=card.unit)
        for card, n in facts.cards
        if nodes.card_of(name, card.resource) == card.name
    )
    problems, _ = nodes.problems.by_node.get(name, ((), False))
    if not cards and not problems:
        return None
    problem = show("; ".join(problems), most=_LONGEST_PROBLEM)
    return NodeRow(name=name, takes_pods=facts.takes_pods, cards=cards, problem=problem)

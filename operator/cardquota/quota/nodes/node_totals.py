"""What nodes offer of the counted cards, by node and in sum. Amounts are cards."""

from collections.abc import Collection

from ..amounts import Amounts, MutableAmounts
from ..cards.card import Card

Offer = tuple[tuple[Card, int], ...]
"""The counted cards of one node; zero for a card that it has and does not offer at present."""


class NodeTotals:
    """Sums follow each change at once. A change costs in proportion to the cards of one node."""

    def __init__(self) -> None:
        self._by_node: dict[str, Offer] = {}
        self._sums: MutableAmounts = {}
        self._before: MutableAmounts = {}
        """Cards whose sum has changed: the sum at the last `take_changed`."""
        self._nodes: dict[str, int] = {}
        """By card: the number of nodes on which it is counted; never zero."""
        self.version = 0
        """Goes up whenever a card is counted on its first node, or on none any more."""

    def put(self, node: str, offer: Offer) -> None:
        """Set what a node offers now; nothing if it is gone."""
        before = self._by_node.get(node, ())
        if before == offer:
            return
        names = {card.name for card, _ in (*before, *offer)}
        had = names & self._nodes.keys()
        for sign, cards in ((-1, before), (1, offer)):
            for card, amount in cards:
                self._before.setdefault(card.name, self.total(card.name))
                _add(self._sums, card.name, sign * amount)
                _add(self._nodes, card.name, sign)
        self.version += had != names & self._nodes.keys()
        self._by_node[node] = offer
        if not offer:
            del self._by_node[node]

    def take_changed(self) -> Amounts:
        """Cards whose sum has changed since the last call, with the former sum."""
        taken, self._before = self._before, {}
        return {card: before for card, before in taken.items() if before != self.total(card)}

    def total(self, card: str) -> int:
        """The sum of one card in the whole cluster."""
        return self._sums.get(card, 0)

    def totals(self) -> MutableAmounts:
        """The sum of every card that a node offers now."""
        return dict(self._sums)

    def is_counted(self, card: str) -> bool:
        """Whether any node has the card, even if none offers it at present."""
        return card in self._nodes

    def nodes_with(self) -> dict[str, int]:
        """How many nodes offer each card now. Costs O(nodes).

        Zero for a card that nodes show and none offers, as while a device plugin is down.
        """
        found: dict[str, int] = {}
        for offer in self._by_node.values():
            for card, amount in offer:
                found[card.name] = found.get(card.name, 0) + (amount > 0)
        return found

    def has_any(self, node: str, cards: Collection[str]) -> bool:
        """Whether a node has one of these cards."""
        return any(card.name in cards for card, _ in self._by_node.get(node, ()))


def _add(sums: dict[str, int], card: str, amount: int) -> None:
    left = sums.get(card, 0) + amount
    if left:
        sums[card] = left
    else:
        sums.pop(card, None)

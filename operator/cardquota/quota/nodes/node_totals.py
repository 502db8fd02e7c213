"""What nodes offer of the counted cards, by node and in sum. Amounts are cards."""

from collections import Counter
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
        """Cards whose sum has changed: the sum at the last `take_totals`."""
        self._nodes: dict[str, int] = {}
        """By card: the number of nodes on which it is counted; never zero."""
        self._largest: dict[str, int] = {}
        """By node: the memory of its largest card, in its unit; only where cards share it."""
        self._most: dict[str, Counter[int]] = {}
        """By card: how much one pod may have on a node, and the number of nodes."""
        self.counted_version = 0
        """Goes up whenever `has` changes for some card."""

    def put_offer(self, node: str, offer: Offer, largest: int = 0) -> None:
        """Set what a node offers now; nothing if it is gone. `largest`: the memory of its largest
        card, in its unit, if it shares any.
        """
        before, before_largest = self._by_node.get(node, ()), self._largest.pop(node, 0)
        if largest and offer:
            self._largest[node] = largest
        if before == offer and before_largest == largest:
            return
        self._count_most(before, before_largest, -1)
        self._count_most(offer, largest, 1)
        names = {card.name for card, _ in (*before, *offer)}
        had = names & self._nodes.keys()
        for sign, cards in ((-1, before), (1, offer)):
            for card, amount in cards:
                self._before.setdefault(card.name, self.total(card.name))
                _add(self._sums, card.name, sign * amount)
                _add(self._nodes, card.name, sign)
        self.counted_version += had != names & self._nodes.keys()
        self._by_node[node] = offer
        if not offer:
            del self._by_node[node]

    def _count_most(self, offer: Offer, largest: int, sign: int) -> None:
        for card, amount in offer:
            most = self._most.setdefault(card.name, Counter())
            amount = largest if card.unit else amount
            most[amount] += sign
            if not most[amount]:
                del most[amount]
                if not most:
                    del self._most[card.name]

    def most(self, card: str) -> int:
        """The most of a card that a pod could have on one node, whatever is in use there; of card
        memory on one card.
        """
        return max(self._most.get(card, ()), default=0)

    def take_totals(self) -> Amounts:
        """Cards whose sum has changed since the last call, with the former sum."""
        taken, self._before = self._before, {}
        return {card: before for card, before in taken.items() if before != self.total(card)}

    def total(self, card: str) -> int:
        """The sum of one card in the whole cluster."""
        return self._sums.get(card, 0)

    def totals(self) -> MutableAmounts:
        """The sum of every card that a node offers now."""
        return dict(self._sums)

    def has(self, card: str) -> bool:
        """Whether some node has the card, even if none offers it at present, as while a device
        plugin is down.
        """
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

"""Which cards exist, and which resource name stands behind each (D7, D8).

Knowledge outlives the nodes that brought it: a card once seen stays known, so that a drained pool
or a restarting device plugin changes nothing for those who use it. It grows with the number of
kinds of cards, never with pods or nodes.
"""

from collections import Counter

from .card import Card
from .vocabulary import CPU, MEMORY


class Catalog:
    """The cards seen on nodes, and the resource names recorded in Queue status.

    Guarantees one resource name per card name: the first stays (D7). What a node showed beats
    what a status recorded, since only the node's labels can be turned into affinity.
    """

    def __init__(self) -> None:
        self._cards: dict[str, Card] = {}
        self._recorded: dict[str, str] = {}
        self._rows: Counter[str] = Counter()
        """How many recorded cards have a resource name."""
        self.product_labels: set[str] = set()
        """The label keys by which nodes have shown products."""
        self.version = 0
        """Goes up whenever something is learned."""
        self._resources: dict[str, dict[str, None]] = {}

    def learn(self, card: Card) -> tuple[bool, str | None]:
        """Take in a card of a node: whether it is new, and what is wrong with it, if anything."""
        known = self._cards.get(card.name)
        if known is None:
            self.version += 1
            self._cards[card.name] = card
            self.product_labels.add(card.labels[0][0])
            self._resources.setdefault(card.resource, {})[card.name] = None
            # Overruled: or what counts would depend on which of the two was read first.
            recorded = self._recorded.pop(card.name, None)
            if recorded is not None:
                self._rows[recorded] -= 1
            return True, None
        if known.resource != card.resource:
            return False, (
                f"card <{card.name}> is counted as {known.resource} elsewhere, "
                f"but as {card.resource} here"
            )
        return False, None

    def record(self, name: str, resource: str) -> bool:
        """Take in the resource name of a card as a Queue's status kept it; whether it is new.

        Cpu and memory are no cards, though a status of an earlier release may have such a row.
        """
        if name in (CPU, MEMORY) or name in self._cards or name in self._recorded:
            return False
        self.version += 1
        self._recorded[name] = resource
        self._rows[resource] += 1
        return True

    def card(self, name: str) -> Card | None:
        """The card as a node showed it, if any ever did."""
        return self._cards.get(name)

    def resource(self, name: str) -> str | None:
        """The resource name behind a card, from a node or else from a Queue's status."""
        card = self._cards.get(name)
        return card.resource if card else self._recorded.get(name)

    def cards_of(self, resource: str) -> tuple[Card, ...]:
        """All cards of a resource name that nodes have shown, in the order seen."""
        return tuple(self._cards[name] for name in self._resources.get(resource, ()))

    def counts(self, resource: str) -> bool:
        """Whether some card is known by this resource name."""
        return resource in self._resources or self._rows[resource] > 0

    def shows_product(self, product: str) -> bool:
        """Whether any node has shown a card of this product, whole or in parts."""
        return any(name == product or name.startswith(product + "/") for name in self._cards)

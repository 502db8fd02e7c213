"""Which cards exist, and which resource name stands behind each (D7, D8).

A card once seen stays known after its nodes are gone, so a drained pool or a restarting device
plugin changes nothing for its users. The catalog grows with the number of kinds of cards, never
with pods or nodes.
"""

from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from dataclasses import replace

from ..amounts import is_card
from .card import Card


class Catalog:
    """The cards seen on nodes, the resource names recorded in Queue status, and the resource names
    by which pods hold cards that neither of the two knows.

    Guarantees one resource name per card name: the first stays (D7). A restart reads nodes and
    queues in any order. Then the name that a Queue's status recorded is the first, if some node has
    shown the card by it. Else what nodes showed counts, since only a node's labels can be turned
    into affinity. For a card that no node has shown, it is the resource name of the first pod that
    was let through (P4), as long as some pod holds the card by it or a status keeps it.
    """

    def __init__(self) -> None:
        self._cards: dict[str, Card] = {}
        self._others: dict[str, dict[str, Card]] = {}
        """By name and resource name: cards that nodes showed by a name that is not counted."""
        self._recorded: dict[str, str] = {}
        self._held: dict[str, dict[str, int]] = {}
        """By name and resource name: how many pods hold a card that no node had shown when they
        were let through. The earliest resource name is first."""
        self.product_labels: set[str] = set()
        """The label keys by which nodes have shown products."""
        self.version = 0
        """Goes up whenever the catalog changes."""
        self._by_resource: dict[str, tuple[Card, ...]] = {}
        """The cards that nodes have shown; none of a resource name that is only recorded. Made anew
        at the first question after a change: one event may have very many."""
        self._stale = False
        self._named: set[str] = set()

    @property
    def names(self) -> AbstractSet[str]:
        """All cards whose resource name is known."""
        return self._cards.keys() | self._recorded.keys()

    def learn(self, card: Card) -> tuple[bool, str | None]:
        """Take in a card of a node. Returns whether it is news, and what is wrong with it, if
        anything.

        It is also news if the card was counted by another resource name until now (`record`).
        """
        known = self._cards.get(card.name)
        if known is None:
            self._count(card)
            return True, None
        if known.resource == card.resource:
            return False, None
        self._others.setdefault(card.name, {}).setdefault(card.resource, card)
        if self._use_recorded(card.name):
            return True, None
        return False, (
            f"card <{card.name}> is counted as {known.resource} on other nodes, "
            f"but as {card.resource} here"
        )

    def note_memory(self, card: Card) -> bool:
        """Take in how a node writes the memory of a known share. Returns whether it is news."""
        known = self._cards[card.name]
        if known.memory is None or card.memory is None or known.memory.key != card.memory.key:
            return False
        memory = known.memory.also(card.memory.values)
        if memory is known.memory:
            return False
        self._count(replace(known, memory=memory))
        return True

    def record(self, name: str, resource: str) -> bool:
        """Take in the resource name of a card from a Queue's status. Returns whether it is news.

        The first record stays until a record agrees with what is counted. Then that one was first,
        and a node that shows the card by the older record's resource name comes second (D7).
        Cpu and memory are no cards, though a status of an earlier release may have such a row.
        """
        known = self._cards.get(name)
        if not is_card(name):
            return False
        if known is not None and known.resource == resource:
            self._recorded[name] = resource
            return False
        if name in self._recorded:
            return False
        self._recorded[name] = resource
        if known is not None:
            return self._use_recorded(name)
        self._named.add(name)
        self._changed()
        return True

    def show(self, card: Card) -> None:
        """Replace the labels by which nodes show a known card; the resource name is the same."""
        self._count(card)

    def forget(self, name: str) -> str | None:
        """A card is in no quota any more. Returns the resource name that was recorded for it, if no
        node ever showed the card. A later quota for the card begins anew.
        """
        if name in self._cards or name not in self._recorded:
            return None
        resource = self._recorded.pop(name)
        self._changed()
        return resource

    def hold(self, name: str, resource: str, sign: int) -> bool:
        """Count in or out (`sign`) a pod that was let through for a card that no node has shown.

        Returns whether pods that ask for the card by another resource name may now be judged
        differently.
        """
        before = self.held_as(name)
        held = self._held.setdefault(name, {})
        held[resource] = held.get(resource, 0) + sign
        if not held[resource]:
            del held[resource]
        if not held:
            del self._held[name]
        if self.held_as(name) == before:
            return False
        self.version += 1
        return before is not None

    def held_as(self, name: str) -> str | None:
        """The resource name by which pods hold a card that no node has shown."""
        return next(iter(self._held.get(name, ())), None)

    def _use_recorded(self, name: str) -> bool:
        """Count a card by its recorded name, if a node has shown it so. Returns whether it did."""
        others, recorded = self._others.get(name, {}), self._recorded.get(name)
        card = None if recorded is None else others.pop(recorded, None)
        if card is None:
            return False
        before = self._cards[name]
        others[before.resource] = before
        self._count(card)
        return True

    def _changed(self) -> None:
        self.version += 1
        self._stale = True

    def _count(self, card: Card) -> None:
        self._named.add(card.name)
        self._cards[card.name] = card
        self._changed()
        self.product_labels.add(card.labels[0][0])

    def take_named(self) -> set[str]:
        """Cards whose resource name has changed, or is new, since the last call."""
        taken, self._named = self._named, set()
        return taken

    def card(self, name: str) -> Card | None:
        """The card as a node showed it, if any ever did."""
        return self._cards.get(name)

    def resource(self, name: str) -> str | None:
        """The resource name behind a card, from a node or else from a Queue's status."""
        card = self._cards.get(name)
        return card.resource if card else self._recorded.get(name)

    def cards_of(self, resource: str) -> tuple[Card, ...]:
        """All cards of a resource name that nodes have shown, first seen first."""
        return self._resources().get(resource, ())

    def counts(self, resource: str) -> bool:
        """Whether some card is known by this resource name."""
        return resource in self._resources()

    def _resources(self) -> Mapping[str, tuple[Card, ...]]:
        if self._stale:
            self._stale = False
            found: dict[str, list[Card]] = {self.resource(name) or "": [] for name in self.names}
            for card in self._cards.values():
                found[card.resource].append(card)
            self._by_resource = {resource: tuple(cards) for resource, cards in found.items()}
        return self._by_resource

    def shows_product(self, product: str) -> bool:
        """Whether any node has shown a card of this product, whole or in parts."""
        return any(name == product or name.startswith(product + "/") for name in self._cards)

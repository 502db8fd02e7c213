"""Cards as users name them: a definition per card, the alternatives a pod writes, and which cards
exist, with the resource name behind each (D7, D8).

A card name is never a resource name: `NVIDIA-H200` is the card, `nvidia.com/gpu` what Kubernetes
counts for it. A card once seen stays known after its nodes are gone, so a drained pool or a
restarting device plugin changes nothing for its users.
"""

import re
from collections.abc import Iterable, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import lru_cache
from typing import Final, NamedTuple

from ..amounts import NO_AMOUNTS, Amounts, add_to, is_card
from ..words import show

_MOST_DIGITS: Final = 18
_WRITTEN: Final = re.compile(r"([0-9]{1,9})(M|MB|Mi|MiB|G|GB|Gi|GiB|(?<=[0-9]{4}))", re.ASCII)
_MIB_PER_GIB: Final = 1024


class MemoryUnit(StrEnum):
    """The unit of a label's number. Makers write G and GB and mean GiB; all are read as GiB."""

    MIB = "MiB"
    """A whole number of MiB, without a unit."""
    WRITTEN = "written"
    """A whole number with its unit: `64G`, `64GB`, `98304MiB`. A number of at least four digits may
    have no unit: then it can only be MiB."""


def mib_of(text: str, unit: MemoryUnit) -> int | None:
    """MiB, above zero. None if the text cannot be read."""
    if unit is MemoryUnit.MIB:
        plain = text.isascii() and text.isdigit() and len(text) <= _MOST_DIGITS
        return (int(text) or None) if plain else None
    found = _WRITTEN.fullmatch(text)
    if found is None:
        return None
    return int(found[1]) * (_MIB_PER_GIB if found[2].startswith("G") else 1) or None


def gib_of(mib: int) -> int:
    """Whole GiB, rounded half up, as in the name of a share (D3)."""
    return (2 * mib + _MIB_PER_GIB) // (2 * _MIB_PER_GIB)


@dataclass(frozen=True, slots=True)
class MemoryLabel:
    """The memory of one card as a node's label states it, for a share whose name has it (D3, P5).

    Several values of the label are the same share: the name has whole GiB.
    """

    key: str
    gib: int
    unit: MemoryUnit
    values: tuple[str, ...] = ()
    """For a label with a unit: the values that nodes have shown, sorted. The same number can be
    written in endless ways, and affinity can select such a label only by whole values."""

    @property
    def least(self) -> int:
        """The least MiB that round to this size; a label has at least 1."""
        return max(1, self.gib * _MIB_PER_GIB - _MIB_PER_GIB // 2)

    @property
    def most(self) -> int:
        """The most MiB that round to this size."""
        return self.gib * _MIB_PER_GIB + _MIB_PER_GIB // 2 - 1

    def also(self, values: Iterable[str]) -> "MemoryLabel":
        """The label with more values that nodes have shown. The same object if none is new."""
        both = tuple(sorted({*self.values, *values}))
        return self if both == self.values else replace(self, values=both)


LONGEST_NAME: Final = 256
"""Characters. Label values have at most 63, a profile or share adds a few."""

_LONGEST_KEPT: Final = 512
"""Characters of the longest annotation that is remembered."""

_PRODUCT: Final = re.compile(r"[A-Za-z0-9]([A-Za-z0-9_.-]{0,61}[A-Za-z0-9])?")
"""A product is the value of a label (D9)."""
SLOT_PART: Final = "slot"
"""A logical card's name continues with this after the product (D10)."""
_PART: Final = re.compile(
    rf"mig-[A-Za-z0-9][A-Za-z0-9._-]*-mixed|gpu-mem|{SLOT_PART}|[dtqc]px_nps[0-9]"
    r"|(mps|shared)-([0-9]+g|mig-[A-Za-z0-9][A-Za-z0-9._-]*)\*1/[1-9][0-9]*"
)
"""A slice, partition, share or slot of a product (D3, D4, D6, D10), or the memory of its cards
(B10)."""
_MEMORY: Final = "/gpu-mem"


class CardNameError(ValueError):
    """A `card.name` that cannot be read (P2); the text says which part and what to write."""


Labels = tuple[tuple[str, str], ...]
"""Keys and values."""


@dataclass(frozen=True, slots=True)
class Card:
    """One kind of card: its name, the resource behind it and the node labels that show it.

    `labels` are those that a node must have for a pod to get this very card (P5).
    """

    name: str
    resource: str
    labels: Labels
    memory: MemoryLabel | None = None
    """The label that must say the memory of this share."""
    barred: Labels = ()
    """Labels that a node must not carry with these values; it may have them with others, or not at
    all. No key of `labels` is among them."""
    unit: str = ""
    """Of card memory: what one of it is, MiB or GiB. Empty for cards."""

    @property
    def keys(self) -> tuple[str, ...]:
        """The keys of all labels by which the card is told from others."""
        keys = tuple(key for key, _ in (*self.labels, *self.barred))
        return keys if self.memory is None else (*keys, self.memory.key)


def model_of(name: str) -> str:
    """The product of a card or of its part: `NVIDIA-H200` of `NVIDIA-H200/mig-1g.18gb-mixed`."""
    return name.split("/", 1)[0]


def memory_card(product: str) -> str:
    """The name under which a quota counts the memory of a product's cards (B10)."""
    return product + _MEMORY


def is_memory(name: str) -> bool:
    """Whether a card's name stands for the memory of cards: its amounts are MiB or GiB (B10)."""
    return name.endswith(_MEMORY)


def check_name(name: str) -> None:
    """Raise CardNameError if `name` cannot be the name of a card."""
    if not name:
        raise CardNameError("a card name is empty")
    if len(name) > LONGEST_NAME:
        raise CardNameError(f"the card name <{show(name)}> has more than {LONGEST_NAME} characters")
    if name != name.strip():
        raise CardNameError(f"the card name <{show(name)}> begins or ends with a space")
    if not name.isprintable():
        raise CardNameError(f"the card name <{show(name)}> has control characters")
    if "|" in name:
        raise CardNameError(f"<{show(name)}> is a choice of cards, not one card")
    if not is_card(name):
        # Such a row would be charged beside the real dimension: unlimited, or on top.
        raise CardNameError(f"<{name}> is no card; a queue limits it in spec.capability")


def can_exist(name: str) -> bool:
    """Whether some node could have a card of this name. Call `check_name` on the name first."""
    product, slash, part = name.partition("/")
    return bool(_PRODUCT.fullmatch(product) and (not slash or _PART.fullmatch(part)))


def read_alternatives(text: str) -> tuple[str, ...]:
    """The cards of `A|B|C` in the user's order, trimmed, without duplicates (P2).

    Raises CardNameError.
    """
    return _kept(text) if len(text) <= _LONGEST_KEPT else _read(text)


def _read(text: str) -> tuple[str, ...]:
    if not text.strip():
        raise CardNameError("it is empty")
    names: dict[str, None] = {}
    for part in text.split("|"):
        name = part.strip()
        if not name:
            raise CardNameError(f"<{show(text)}> has an empty alternative")
        check_name(name)
        names[name] = None
    return tuple(names)


_kept = lru_cache(maxsize=1024)(_read)  # of short texts alone


class Surge(NamedTuple):
    """How many cards rolling updates may borrow (R6): by card, or the same number of each that has
    a quota.
    """

    each: int = 0
    by_card: Amounts = NO_AMOUNTS

    def __bool__(self) -> bool:
        return bool(self.each or self.by_card)

    def of(self, card: str) -> int:
        """Of a card that has a quota. A number for each card is none of card memory (B10)."""
        each = 0 if is_memory(card) else self.each
        return each or self.by_card.get(card, 0)


NO_SURGE: Final = Surge()


class Catalog:
    """The cards seen on nodes, the resource names recorded in Queue status, and the resource names
    by which pods hold cards that neither of the two knows.

    Guarantees one resource name per card name: the first stays (D7). A restart reads nodes and
    queues in any order. Then the name that a Queue's status recorded is the first, if some node has
    shown the card by it. Else what nodes showed counts, since only a node's labels can be turned
    into affinity. For a card that no node has shown, it is the resource name of the first pod that
    was released (P4), as long as some pod holds the card by it or a status keeps it.
    """

    def __init__(self) -> None:
        self._cards: dict[str, Card] = {}
        self._others: dict[str, dict[str, Card]] = {}
        """By name and resource name: cards that nodes showed by a name that is not counted."""
        self._recorded: dict[str, str] = {}
        self._held: dict[str, dict[str, int]] = {}
        """By name and resource name: how many pods hold a card that no node had shown when they
        were released. The earliest resource name is first."""
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
            self.show(card)
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
        self.show(replace(known, memory=memory))
        return True

    def record(self, name: str, resource: str) -> bool:
        """Take in the resource name of a card from a Queue's status. Returns whether it is news.

        The first record stays until a record agrees with what is counted. Then that one was first,
        and a node that shows the card by the older record's resource name comes second (D7).
        Cpu and memory are no cards, though a status of an earlier version may have such a row.
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

    def forget(self, name: str) -> bool:
        """A card is in no quota any more: its resource name is forgotten, if no node ever showed
        the card. Returns whether it was known. A later quota for the card begins anew.
        """
        if name in self._cards or name not in self._recorded:
            return False
        del self._recorded[name]
        self._changed()
        return True

    def hold(self, name: str, resource: str, sign: int) -> None:
        """Count in or out (`sign`) a pod that was released for a card that no node has shown."""
        before = self.held_as(name)
        held = self._held.setdefault(name, {})
        add_to(held, resource, sign)
        if not held:
            del self._held[name]
        self.version += self.held_as(name) != before

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
        self.show(card)
        return True

    def _changed(self) -> None:
        self.version += 1
        self._stale = True

    def show(self, card: Card) -> None:
        """Nodes show a card by these labels now, and count it by this resource name."""
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

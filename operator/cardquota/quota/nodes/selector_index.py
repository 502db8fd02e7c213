"""The cards on the nodes that a pod's selector picks by labels other than the card's (P3).

An answer is computed from an index of labels, and kept until a node changes. After such an event
the answers that pods depend on are computed again: some at once, the others in slices. So no event
costs as much as everything around it, however many different selectors are waiting.

Costs: an event about a node is a step for each of its labels, and at most `_AT_ONCE` answers. An
answer costs in proportion to the selector's text, not to the nodes.
"""

from bisect import bisect_left
from collections.abc import Collection, Iterator
from itertools import compress, islice
from typing import Final, NamedTuple, TypeVar

from ..cards.card import Card, Labels
from ..limits import KIB
from ..selectors.label_index import LabelIndex
from ..selectors.selector import HOST_NAME, NODE_NAME, Place, Selector, decode
from ..sized_cache import SizedCache

K = TypeVar("K")

_AT_ONCE: Final = 128
"""Answers that are computed again in one slice, for selectors of usual length."""
_USUAL: Final = KIB
"""Bytes of such a selector; a longer one counts as several."""
_STEPS: Final = 256
"""Steps of number comparisons that count as one more answer."""
_MOST_PLACES: Final = 16
"""Nodes that a query is indexed by. A query that names more is answered again when any node
changes."""
_MOVED_AT_ONCE: Final = 128
"""Pods that one call returns."""


class _IndexedNode(NamedTuple):
    """A node in the index. `cards` are those that it offers or has stopped offering (D8). `bits`
    has one bit for each card.
    """

    labels: Labels
    cards: tuple[Card, ...]
    bits: tuple[int, ...]


class _Query:
    """A selector of waiting pods: the last answer, and the uids of those pods."""

    __slots__ = ("cards", "places", "uids")

    def __init__(self, selector: Selector, cards: frozenset[str]) -> None:
        self.cards = cards
        places = selector.places()
        self.places = places if places is not None and len(places) <= _MOST_PLACES else None
        self.uids: set[str] = set()


class SelectorIndex:
    """The nodes, and the selectors that pods wait with, encoded as by `selector.encode`.

    Guarantee: an answer always follows from all nodes that were put in and not dropped.
    Not guaranteed: that `take_moved` returns at once all pods whose answer has changed. While there
    is `more`, `go_on` finds the next of them.
    """

    def __init__(self) -> None:
        self._nodes: dict[str, _IndexedNode] = {}
        self._index = LabelIndex()
        self._node_of_bit: list[tuple[str, str | None]] = []
        """By the number of a bit: its node, and the card there; None: of a node without cards."""
        self._free_bits: list[int] = []
        self._cards: dict[str, int] = {}
        """By card: the bits of the nodes that have it."""
        self._answers = SizedCache[bytes, frozenset[str]](1024 * KIB)
        self._queries: dict[bytes, _Query] = {}
        self._at: dict[Place, dict[bytes, None]] = {}
        """Queries that name single nodes, by those nodes."""
        self._anywhere: dict[bytes, None] = {}
        """All other queries."""
        self._stale: dict[bytes, None] = {}
        """Queries whose answer may have changed."""
        self._moved: dict[str, None] = {}
        self.version = 0
        """Goes up whenever an answer may have changed."""

    def put(self, name: str, labels: Labels, cards: tuple[Card, ...]) -> None:
        """Set the labels and cards of a node."""
        self._change(name, labels, cards)

    def drop(self, name: str) -> None:
        """A node is gone."""
        self._change(name, None, ())

    def picked(self, selector: bytes) -> Collection[str]:
        """The cards of all selected nodes; empty if none is selected."""
        found = self._answers.get(selector)
        if found is None:
            bits = self._index.selected(decode(selector))
            found = frozenset(card for card, having in self._cards.items() if bits & having)
            self._answers.put(selector, found, len(selector) + 64 * len(found))
        return found

    def nodes_by_card(self, selector: bytes) -> dict[str, list[str]]:
        """The selected nodes that have a card, by card. Costs a step for each of them.

        A node counts with the labels that it showed: they may be gone with its plugin (D8).
        """
        found: dict[str, list[str]] = {}
        for name, card in self._selected(selector):
            if card is not None:
                found.setdefault(card, []).append(name)
        return found

    def names(self, selector: bytes) -> Collection[str]:
        """All selected nodes, with or without cards. Costs a step for each of them."""
        return dict.fromkeys(name for name, _ in self._selected(selector)).keys()

    def _selected(self, selector: bytes) -> Iterator[tuple[str, str | None]]:
        bits = self._index.selected(decode(selector))
        return compress(self._node_of_bit, map("1".__eq__, reversed(f"{bits:b}")))

    def join(self, selector: bytes, uid: str) -> None:
        """A pod depends on this selector's answer from now on."""
        query = self._queries.get(selector)
        if query is None:
            query = self._add_query(selector)
        query.uids.add(uid)

    def leave(self, selector: bytes, uid: str) -> None:
        """A pod no longer depends on an answer. May be called again."""
        query = self._queries.get(selector)
        if query is not None:
            query.uids.discard(uid)
            self._moved.pop(uid, None)
            if not query.uids:
                self._forget(selector, query)

    @property
    def more(self) -> bool:
        """Whether `take_moved` may return more pods."""
        return bool(self._stale or self._moved)

    def go_on(self) -> None:
        """Compute some of the stale answers again."""
        left = _AT_ONCE
        while self._stale and left > 0:
            selector = next(iter(self._stale))
            del self._stale[selector]
            before = self._index.work
            query, cards = self._queries[selector], frozenset(self.picked(selector))
            left -= 1 + len(selector) // _USUAL + (self._index.work - before) // _STEPS
            if cards != query.cards:
                query.cards = cards
                self._moved.update(dict.fromkeys(query.uids))

    def take_moved(self) -> list[str]:
        """Pods whose answer has changed since the last call, sorted. At most a bounded number of
        them.
        """
        uids = list(islice(self._moved, _MOVED_AT_ONCE))
        for uid in uids:
            del self._moved[uid]
        return sorted(uids)

    def _change(self, name: str, labels: Labels | None, cards: tuple[Card, ...]) -> None:
        old = self._nodes.get(name)
        if (old is None and labels is None) or (old and old[:2] == (labels, cards)):
            return
        if old is not None and labels is not None and old.cards == cards:
            self._relabel(name, old, labels)
        else:
            if old is not None:
                self._take_out(name, old)
            if labels is not None:
                self._put_in(name, labels, cards)
        if cards or (old and old.cards):
            self.version += 1
            self._answers.clear()
            self._mark_stale(name, old.labels if old else (), labels or ())
            self.go_on()

    def _relabel(self, name: str, old: _IndexedNode, labels: Labels) -> None:
        self._nodes[name] = old._replace(labels=labels)
        if not old.cards:
            self._index.relabel(old.bits[0], dict(old.labels), dict(labels))
        for card, bit in zip(old.cards, old.bits, strict=False):
            self._index.relabel(bit, _shown(old.labels, card), _shown(labels, card))

    def _put_in(self, name: str, labels: Labels, cards: tuple[Card, ...]) -> None:
        had: list[str | None] = [card.name for card in cards]
        bits = tuple(self._new_bit(name, card) for card in had or [None])
        self._nodes[name] = _IndexedNode(labels, cards, bits)
        if not cards:
            self._index.add(bits[0], name, dict(labels))
        for card, bit in zip(cards, bits, strict=False):
            self._index.add(bit, name, _shown(labels, card))
            self._cards[card.name] = self._cards.get(card.name, 0) | bit

    def _take_out(self, name: str, node: _IndexedNode) -> None:
        del self._nodes[name]
        if not node.cards:
            self._index.discard(node.bits[0], name, dict(node.labels))
        for card, bit in zip(node.cards, node.bits, strict=False):
            self._index.discard(bit, name, _shown(node.labels, card))
            left = self._cards[card.name] & ~bit
            if left:
                self._cards[card.name] = left
            else:
                del self._cards[card.name]
        self._free_bits += node.bits
        if not self._nodes:
            self._node_of_bit.clear()
            self._free_bits.clear()

    def _new_bit(self, name: str, card: str | None) -> int:
        if not self._free_bits:
            self._node_of_bit.append((name, card))
            return 1 << (len(self._node_of_bit) - 1)
        bit = self._free_bits.pop()
        self._node_of_bit[bit.bit_length() - 1] = (name, card)
        return bit

    def _mark_stale(self, name: str, before: Labels, after: Labels) -> None:
        """Mark the queries whose answer a change of this node may change."""
        hosts = {label_of(before, HOST_NAME), label_of(after, HOST_NAME)}
        places = [(NODE_NAME, name), *((HOST_NAME, host) for host in hosts if host is not None)]
        for place in places:
            self._stale.update(self._at.get(place, ()))
        self._stale.update(self._anywhere)

    def _add_query(self, selector: bytes) -> _Query:
        query = _Query(decode(selector), frozenset(self.picked(selector)))
        self._queries[selector] = query
        for place in query.places or ():
            self._at.setdefault(place, {})[selector] = None
        if query.places is None:
            self._anywhere[selector] = None
        return query

    def _forget(self, selector: bytes, query: _Query) -> None:
        del self._queries[selector]
        self._stale.pop(selector, None)
        for place in query.places or ():
            _discard(self._at, place, selector)
        if query.places is None:
            del self._anywhere[selector]


def label_of(labels: Labels, key: str) -> str | None:
    """The value under a key among sorted labels."""
    place = bisect_left(labels, (key,))
    if place < len(labels) and labels[place][0] == key:
        return labels[place][1]
    return None


def _shown(labels: Labels, card: Card) -> dict[str, str]:
    """A node's labels. The labels of its card count as the node showed them, even while they are
    missing because its device plugin restarts (D8).
    """
    shown = dict(labels)
    shown.update(card.labels)
    return shown


def _discard(index: dict[K, dict[bytes, None]], key: K, selector: bytes) -> None:
    del index[key][selector]
    if not index[key]:
        del index[key]

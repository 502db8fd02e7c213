"""The cards on the nodes that a pod's selector picks by labels other than the card's (P3).

A selector is evaluated plainly over the nodes. The answer is remembered by the selector's text
until a node changes. Then the answers that pods depend on are computed again, in steps, once for
many changes. With 5,000 nodes an answer takes half a millisecond, and up to 100 ms for the largest
selector that is read.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Final, NamedTuple

from ..cards.card import Card, Labels
from ..kept_objects import SizedCache
from ..limits import KIB
from ..selectors.selector import HOST_NAME, NODE_NAME, LabelledNode, NodeLabel, decode, picked

_STEPS_AT_EVENT: Final = 5_000
"""Nodes that one event about a node has looked at, at most, once for each requirement: 0.5 ms."""
_STEPS: Final = 50_000
"""Nodes that a call of `go_on` looks at, once for each requirement: 5 ms; but at least all of them
for one selector: up to 100 ms."""
_MOVED_AT_ONCE: Final = 128
"""Pods that one call returns."""


Choice = Mapping[str, Sequence[str]]
"""By card: those of the picked nodes that have it."""


class _Node(NamedTuple):
    labels: Labels
    cards: tuple[Card, ...]
    shown: tuple[LabelledNode, ...]
    """One for each of its cards, at least one."""


@dataclass(slots=True)
class _Query:
    """A selector of waiting pods: the last answer, and the uids of those pods."""

    places: frozenset[NodeLabel] | None
    cards: frozenset[str]
    uids: set[str] = field(default_factory=set)


class NodeSelection:
    """The nodes, and the selectors that pods wait with, encoded as by `selector.encode`.

    Guarantee: an answer always follows from all nodes that were put in and not dropped.
    Not guaranteed: that `take_moved` returns at once all pods whose answer has changed. While there
    is `more`, `go_on` finds the next of them.
    """

    def __init__(self) -> None:
        self._nodes: dict[str, _Node] = {}
        self._all: list[LabelledNode] | None = None
        """All of them; None: a node has changed."""
        self._choices = SizedCache[bytes, Choice](8 * 1024 * KIB)
        self._queries: dict[bytes, _Query] = {}
        self._stale: dict[bytes, None] = {}
        """Queries whose answer may have changed."""
        self._moved: dict[str, None] = {}
        self.version = 0
        """Goes up whenever an answer may have changed."""

    def put(self, name: str, labels: Labels, cards: tuple[Card, ...]) -> None:
        """Set the labels of a node, and the cards that it offers or has stopped offering (D8)."""
        before = self._nodes.get(name)
        if before is None or (before.labels, before.cards) != (labels, cards):
            self._nodes[name] = _Node(labels, cards, tuple(_shown(name, labels, cards)))
            self._changed(name, before, self._nodes[name])

    def drop(self, name: str) -> None:
        """A node is gone."""
        before = self._nodes.pop(name, None)
        if before is not None:
            self._changed(name, before)

    def choice(self, selector: bytes) -> Choice:
        """The selected nodes that have a card. Costs in proportion to all nodes, once for all pods
        with the same selector, until a node with cards changes.
        """
        found = self._choices.get(selector)
        if found is None:
            by_card: dict[str, list[str]] = {}
            for node in self.nodes(selector):
                if node.card is not None:
                    by_card.setdefault(node.card, []).append(node.name)
            size = sum(100 + 8 * len(nodes) for nodes in by_card.values())
            found = self._choices.put(selector, by_card, len(selector) + size)
        return found

    def nodes(self, selector: bytes) -> Sequence[LabelledNode]:
        """The selected nodes, with or without a card. A node counts with the labels of its card
        that it showed: they may be gone with its plugin (D8).
        """
        selected = decode(selector)
        return picked(selected, self._among(selected.places()))

    def join(self, selector: bytes, uid: str) -> None:
        """A pod depends on this selector's answer from now on."""
        query = self._queries.get(selector)
        if query is None:
            cards = frozenset(self.choice(selector))
            query = self._queries[selector] = _Query(decode(selector).places(), cards)
        query.uids.add(uid)

    def leave(self, selector: bytes, uid: str) -> None:
        """A pod no longer depends on an answer. May be called again."""
        query = self._queries.get(selector)
        if query is not None:
            query.uids.discard(uid)
            self._moved.pop(uid, None)
            if not query.uids:
                del self._queries[selector]
                self._stale.pop(selector, None)

    @property
    def more(self) -> bool:
        """Whether `take_moved` may return more pods."""
        return bool(self._stale or self._moved)

    def go_on(self) -> None:
        """Compute some of the stale answers again, at least one."""
        self._go_on(_STEPS, at_least_one=True)

    def _go_on(self, steps: int, *, at_least_one: bool) -> None:
        while self._stale:
            selector = next(iter(self._stale))
            query = self._queries[selector]
            named = query.places is not None and all(key == NODE_NAME for key, _ in query.places)
            nodes = len(query.places or ()) if named else len(self._nodes)
            steps -= nodes * (1 + decode(selector).requirements)
            if steps < 0 and not at_least_one:
                return
            at_least_one = False
            del self._stale[selector]
            cards = frozenset(self.choice(selector))
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

    def _changed(self, name: str, *nodes: _Node | None) -> None:
        """`nodes`: the node as it was, and as it is."""
        self._all = None
        if not any(node.cards for node in nodes if node is not None):
            return
        self.version += 1
        self._choices.clear()
        places = {(NODE_NAME, name)}
        for node in nodes:
            if node is not None:
                places.update(label for label in node.labels if label[0] == HOST_NAME)
        for selector, query in self._queries.items():
            if query.places is None or not query.places.isdisjoint(places):
                self._stale[selector] = None
        self._go_on(_STEPS_AT_EVENT, at_least_one=False)

    def _among(self, places: frozenset[NodeLabel] | None) -> Sequence[LabelledNode]:
        """The nodes to look at for a selector that picks only these places, if any are given."""
        if places is not None and all(key == NODE_NAME for key, _ in places):
            found = (self._nodes.get(name) for _, name in places)
            return [one for node in found if node is not None for one in node.shown]
        if self._all is None:
            self._all = [one for node in self._nodes.values() for one in node.shown]
        return self._all


def _shown(name: str, labels: Labels, cards: tuple[Card, ...]) -> Iterator[LabelledNode]:
    own = dict(labels)
    for card in cards:
        missing = any(own.get(key) != value for key, value in card.labels)
        yield LabelledNode(name, {**own, **dict(card.labels)} if missing else own, card.name)
    if not cards:
        yield LabelledNode(name, own, None)

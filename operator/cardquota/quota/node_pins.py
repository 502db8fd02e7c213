"""Which cards stand on the nodes that a pod's selector picks by other labels than the card's (P3).

Questions stay standing: what is asked again and again is kept up to date node by node, never by
going through all nodes anew.

Costs: the first asking of a question goes through all nodes with cards, unless it names single
nodes (as pods of a DaemonSet do). An event about a node then costs in proportion to the questions
that stand and name no nodes, and to those that name this one. A question that no pod waits on is
kept until the next event about a node.
"""

from bisect import bisect_left
from collections.abc import Callable, Collection, Iterable, Iterator
from itertools import chain
from typing import Final, NamedTuple, TypeVar

from .card import NOT, Card, Labels
from .selector import HOST_NAME, NODE_NAME, Place, Selector, decode

K = TypeVar("K")
V = TypeVar("V")
_MOST_IDLE: Final = 1_000
"""Questions without a waiting pod that are kept at most."""


class _Spot(NamedTuple):
    """A node with cards. `cards` are those it offers, or has stopped offering (D8)."""

    labels: Labels
    cards: tuple[Card, ...]


class _Question:
    """A selector, its answer in nodes by card, and the pods that wait on it."""

    __slots__ = ("nodes", "places", "selector", "uids")

    def __init__(self, selector: Selector) -> None:
        self.selector = selector
        self.places = selector.places()
        self.nodes: dict[str, int] = {}
        """How many selected nodes have a card; never zero."""
        self.uids: set[str] = set()

    def post(self, name: str, spot: _Spot | None, sign: int) -> None:
        """Count a node, or take it out again."""
        for card in spot.cards if spot else ():
            if self.selector.selects(name, _reader(spot.labels if spot else (), card)):
                left = self.nodes.get(card.name, 0) + sign
                if left:
                    self.nodes[card.name] = left
                else:
                    del self.nodes[card.name]


class NodePins:
    """The nodes with cards, and what is asked of them. Selectors are as `selector.encode` has them.

    Guarantee: an answer is always what all nodes put in so far, and not dropped, give.
    """

    def __init__(self) -> None:
        self._spots: dict[str, _Spot] = {}
        self._hosts: dict[str, set[str]] = {}
        self._questions: dict[bytes, _Question] = {}
        self._at: dict[Place, set[bytes]] = {}
        """Questions that name single nodes, by those."""
        self._anywhere: set[bytes] = set()
        """The other questions."""
        self._idle: set[bytes] = set()
        """Those of all of them that no pod waits on."""
        self._moved: set[str] = set()
        self.version = 0
        """Goes up whenever an answer may have changed."""

    def put(self, name: str, labels: Labels, cards: tuple[Card, ...]) -> None:
        """A node is as told; one without cards picks none, so it need not be known."""
        self._change(name, _Spot(labels, cards) if cards else None)

    def drop(self, name: str) -> None:
        """A node is gone."""
        self._change(name, None)

    def picked(self, selector: bytes) -> Collection[str]:
        """The cards of all nodes that are selected; empty where none is."""
        return self._ask(selector).nodes.keys()

    def names(self, selector: bytes) -> list[str]:
        """The nodes with cards that are selected. Goes through all of them, unless it names some.

        For a pod whose cards' labels may have gone with its plugin it asks for what it showed (D8).
        """
        question = self._ask(selector)
        names = self._spots if question.places is None else self._names(question.places)
        return [
            name
            for name in names
            if (spot := self._spots.get(name))
            for card in spot.cards[:1]
            if question.selector.selects(name, _reader(spot.labels, card))
        ]

    def join(self, selector: bytes, uid: str) -> None:
        """A pod depends on an answer from now on."""
        self._ask(selector).uids.add(uid)
        self._idle.discard(selector)

    def leave(self, selector: bytes, uid: str) -> None:
        """A pod depends on an answer no longer; may repeat."""
        question = self._questions.get(selector)
        if question is not None:
            question.uids.discard(uid)
            if not question.uids:
                self._idle.add(selector)

    def take_moved(self) -> list[str]:
        """The pods that depend on an answer that is another one since the last call, sorted."""
        uids, self._moved = sorted(self._moved), set()
        return uids

    def _change(self, name: str, spot: _Spot | None) -> None:
        old = self._spots.get(name)
        if spot == old:
            return
        self.version += 1
        for selector in self._idle:
            self._forget(selector)
        self._idle.clear()
        for selector in list(self._concerned(name, old, spot)):
            question = self._questions[selector]
            before = set(question.nodes)
            question.post(name, old, -1)
            question.post(name, spot, 1)
            if question.nodes.keys() != before:
                self._moved |= question.uids
        self._file(name, old, spot)

    def _concerned(self, name: str, *spots: _Spot | None) -> Iterator[bytes]:
        hosts = {label_of(spot.labels, HOST_NAME) for spot in spots if spot}
        places = [(NODE_NAME, name), *((HOST_NAME, host) for host in hosts if host is not None)]
        named = {selector for place in places for selector in self._at.get(place, ())}
        return chain(self._anywhere, named)

    def _file(self, name: str, old: _Spot | None, spot: _Spot | None) -> None:
        host = label_of(old.labels, HOST_NAME) if old else None
        if host is not None:
            _discard(self._hosts, host, name)
        if spot is None:
            self._spots.pop(name, None)
            return
        self._spots[name] = spot
        host = label_of(spot.labels, HOST_NAME)
        if host is not None:
            self._hosts.setdefault(host, set()).add(name)

    def _ask(self, selector: bytes) -> _Question:
        question = self._questions.get(selector)
        if question is not None:
            return question
        if len(self._idle) >= _MOST_IDLE:
            for idle in self._idle:
                self._forget(idle)
            self._idle.clear()
        question = self._questions[selector] = _Question(decode(selector))
        self._idle.add(selector)
        if question.places is None:
            self._anywhere.add(selector)
        for place in question.places or ():
            self._at.setdefault(place, set()).add(selector)
        for name in self._spots if question.places is None else self._names(question.places):
            question.post(name, self._spots.get(name), 1)
        return question

    def _names(self, places: Iterable[Place]) -> set[str]:
        names = set[str]()
        for key, value in places:
            names |= {value} if key == NODE_NAME else self._hosts.get(value, set())
        return names

    def _forget(self, selector: bytes) -> None:
        question = self._questions.pop(selector)
        self._anywhere.discard(selector)
        for place in question.places or ():
            _discard(self._at, place, selector)


def label_of(labels: Labels, key: str) -> str | None:
    """The value under a key among sorted labels."""
    place = bisect_left(labels, (key,))
    if place < len(labels) and labels[place][0] == key:
        return labels[place][1]
    return None


def _reader(labels: Labels, card: Card) -> Callable[[str], str | None]:
    """Reads a node's labels; those of its card count as it showed them, also while they are gone
    because its device plugin restarts (D8).
    """

    def read(key: str) -> str | None:
        for shown, value in card.labels:
            if shown == key and not value.startswith(NOT):
                return value
        return label_of(labels, key)

    return read


def _discard(index: dict[K, set[V]], key: K, value: V) -> None:
    found = index.get(key)
    if found is not None:
        found.discard(value)
        if not found:
            del index[key]

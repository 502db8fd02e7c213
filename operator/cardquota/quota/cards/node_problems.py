"""What is not counted of nodes and why (D7, D9), and which of it is still to be reported."""

from collections.abc import Iterator, Sequence
from typing import Final

MOST_PROBLEMS: Final = 20
"""Problems kept of one node and one kind. A node may have thousands."""


def some_of(texts: Sequence[str]) -> tuple[str, ...]:
    """The first problems of a node, and the number of the rest."""
    more = len(texts) - MOST_PROBLEMS
    return (*texts[:MOST_PROBLEMS], f"and {more} more") if more > 0 else tuple(texts)


class NodeProblems:
    """By node. A node without problems is not kept, but reported once when its last one ends."""

    def __init__(self) -> None:
        self._texts: dict[str, tuple[str, ...]] = {}
        self._partly: set[str] = set()
        """Nodes with a problem whose other cards are counted (D5)."""
        self._to_tell: set[str] = set()

    def put(self, node: str, texts: tuple[str, ...], *, offers_others: bool) -> None:
        """Set what is wrong with a node now. If that has changed, it is to be reported."""
        partly = bool(texts) and offers_others
        if (texts, partly) != (self.of(node), self.counts_others(node)):
            self._to_tell.add(node)
        self._texts[node] = texts
        if not texts:
            del self._texts[node]
        (self._partly.add if partly else self._partly.discard)(node)

    def drop(self, node: str) -> None:
        """A node is gone: nothing about it is reported any more."""
        self._texts.pop(node, None)
        for names in (self._to_tell, self._partly):
            names.discard(node)

    def of(self, node: str) -> tuple[str, ...]:
        """Everything that is wrong with a node."""
        return self._texts.get(node, ())

    def counts_others(self, node: str) -> bool:
        """Whether a node with a problem offers cards that are counted (D5)."""
        return node in self._partly

    def __iter__(self) -> Iterator[tuple[str, str]]:
        """Node and reason."""
        for node, texts in self._texts.items():
            for text in texts:
                yield node, text

    def take(self) -> str | None:
        """A node whose problems have changed since they were last reported; None if none has."""
        return self._to_tell.pop() if self._to_tell else None

    def forget_untold(self) -> None:
        """Report none of what is waiting: this replica does not report."""
        self._to_tell.clear()

    def tell_all(self) -> None:
        """Have every problem reported again."""
        self._to_tell.update(self._texts)

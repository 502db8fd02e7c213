"""Which card was probably meant, where no node has the one that was written (P4)."""

from typing import Protocol

from ..cards.catalog import Catalog
from ..names.close_names import close_names


class CardNodes(Protocol):
    """What is known of nodes."""

    def has(self, card: str) -> bool:
        """Whether some node has the card."""


class CardsThere(Protocol):
    """What is known of cards."""

    @property
    def catalog(self) -> Catalog:
        """The kinds of cards."""

    @property
    def nodes(self) -> CardNodes:
        """What is known of nodes."""


def card_meant(written: str, known: CardsThere, *, resource: str = "") -> str:
    """The closest card that a node has; empty if none is close. `resource`: the resource name that
    must count it, if that is known.
    """
    catalog = known.catalog
    there = [
        name
        for name in catalog.names
        if known.nodes.has(name) and (not resource or catalog.resource(name) == resource)
    ]
    return next(iter(close_names(written, there, cards=True)), "")

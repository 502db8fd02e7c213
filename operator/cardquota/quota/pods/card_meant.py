"""Which card was probably meant, where no node has the one that was written (P4)."""

from collections.abc import Container
from typing import Protocol

from ..cards.catalog import Catalog


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


def card_meant(
    written: str, known: CardsThere, *, resource: str = "", first: Container[str] = ()
) -> str:
    """The nearest card that a node has; empty if none is near. Costs what `KnownNames.near` does.

    `resource`: the resource name that must count it, if that is known. `first`: of equally near
    ones these are preferred, as those of the quota are: another one would be refused.
    """
    catalog = known.catalog
    near = [
        one
        for one in catalog.names.near(written)
        if known.nodes.has(one.name) and (not resource or catalog.resource(one.name) == resource)
    ]
    if not near:
        return ""
    nearest = near[0]
    like = (one for one in near if (one.kind, one.edits) == (nearest.kind, nearest.edits))
    return next((one.name for one in like if one.name in first), nearest.name)

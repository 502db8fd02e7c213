"""The cards of a queue, out of what the operator has published of it: a row each."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

MOST_ROWS: Final = 1_000
"""Of one queue. The operator publishes no more than fit on the object."""


@dataclass(frozen=True, slots=True)
class PublishedCard:
    """One card of a queue. Amounts are cards; None: nothing readable is published."""

    name: str
    quota: int | None
    allocated: int | None
    inqueue: int | None
    elastic: int | None
    requested: int | None
    guarantee: int | None
    deserved: int | None
    offline: int | None
    """The part of allocated that is off-line use; an older operator publishes none."""

    @property
    def online(self) -> int | None:
        """The rest of it."""
        if self.allocated is None or self.offline is None:
            return None
        return self.allocated - self.offline


_AMOUNTS: Final = (
    "quota",
    "allocated",
    "inqueue",
    "elastic",
    "requested",
    "guarantee",
    "deserved",
    "offline",
)


def published_cards(published: Mapping[str, Any]) -> Iterator[PublishedCard]:
    """In the order of the status, which is by name. Rows that are none are left out."""
    rows = published.get("cards")
    for row in rows[:MOST_ROWS] if isinstance(rows, list) else ():
        if isinstance(row, dict) and isinstance(name := row.get("name"), str):
            amounts = (row.get(key) for key in _AMOUNTS)
            yield PublishedCard(name, *map(_amount, amounts))


def _amount(found: object) -> int | None:
    return found if isinstance(found, int) and not isinstance(found, bool) else None

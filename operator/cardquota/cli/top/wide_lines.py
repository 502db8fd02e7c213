"""`top -o wide`: a row for each card of a queue."""

from collections.abc import Iterator, Mapping
from typing import Final

from rich.text import Text

from ...quota.vocabulary import QueueState
from ...quota.words import show
from ..table import table
from .published_cards import PublishedCard, published_cards
from .published_queues import PublishedQueues

_COLUMNS: Final = (
    "QUEUE",
    "STATE",
    "CARD",
    "QUOTA",
    "ALLOCATED",
    "ON-LINE",
    "OFF-LINE",
    "INQUEUE",
    "ELASTIC",
    "REQUESTED",
    "GUARANTEE",
    "DESERVED",
    "FREE",
)
_BAR: Final = "ALLOCATED/QUOTA"
_NOTE: Final = "NOTE"
_NOTHING: Final = "-"
_LONGEST_NOTE: Final = 400
_WIDTH: Final = 20
"""Characters of a bar."""


def wide_lines(
    found: PublishedQueues, free: Mapping[str, int] | None, *, bars: bool
) -> Iterator[Text]:
    """The table. `free`: by card, on the nodes of the cluster, so the same for all queues; None:
    not known. `bars`: how much of the quota is allocated, drawn behind each row.

    A queue of which no card is published has one row. What is wrong with a queue stands in its
    first row.
    """
    head = (*_COLUMNS, *([_BAR] if bars else []), _NOTE)
    rows: list[tuple[str, ...]] = [head]
    for queue in found.queues:
        names = show(queue.name), show(queue.state or QueueState.OPEN)
        cards = list(published_cards(queue.published))
        note = show(queue.note, most=_LONGEST_NOTE)
        if not cards:
            rows.append((*names, *[_NOTHING] * (len(head) - 3), note))
        for number, card in enumerate(cards):
            bar = [_bar(card)] if bars else []
            rows.append((*names, *_cells(card, free), *bar, "" if number else note))
    yield from table(rows)


def _cells(card: PublishedCard, free: Mapping[str, int] | None) -> tuple[str, ...]:
    amounts = (
        card.quota,
        card.allocated,
        card.online,
        card.offline,
        card.inqueue,
        card.elastic,
        card.requested,
        card.guarantee,
        card.deserved,
        None if free is None else free.get(card.name, 0),
    )
    return show(card.name), *(_NOTHING if one is None else str(one) for one in amounts)


def _bar(card: PublishedCard) -> str:
    """Full from the quota on: a cell says by how much it is exceeded."""
    held, quota = card.allocated or 0, card.quota or 0
    filled = _WIDTH if held >= quota else -(-_WIDTH * held // quota)
    return "█" * (filled if held > 0 else 0) + "░" * (_WIDTH - filled if held > 0 else _WIDTH)

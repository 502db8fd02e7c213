"""`top -o wide`: a row for each card of a queue."""

from collections.abc import Iterator, Mapping
from typing import Any, Final

from rich.text import Text

from ...quota.vocabulary import QueueState
from ...quota.words import show
from ..table import table
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
)
_AMOUNTS: Final = ("inqueue", "elastic", "requested", "guarantee", "deserved")
_BAR: Final = "ALLOCATED/QUOTA"
_NOTE: Final = "NOTE"
_NOTHING: Final = "-"
_LONGEST_NOTE: Final = 400
_WIDTH: Final = 20
"""Characters of a bar."""


def wide_lines(found: PublishedQueues, *, bars: bool) -> Iterator[Text]:
    """The table. `bars`: how much of the quota is allocated, drawn behind each row.

    A queue of which no card is published has one row. What is wrong with a queue stands in its
    first row.
    """
    head = (*_COLUMNS, *([_BAR] if bars else []), _NOTE)
    rows: list[tuple[str, ...]] = [head]
    for queue in found.queues:
        names = show(queue.name), show(queue.state or QueueState.OPEN)
        note = show(queue.note, most=_LONGEST_NOTE)
        if not queue.cards:
            rows.append((*names, *[_NOTHING] * (len(head) - 3), note))
        for number, card in enumerate(queue.cards):
            bar = [_bar(card)] if bars else []
            rows.append((*names, *_cells(card), *bar, "" if number else note))
    yield from table(rows)


def _cells(card: Mapping[str, Any]) -> tuple[str, ...]:
    allocated, offline = _amount(card, "allocated"), _amount(card, "offline")
    # An older operator publishes no off-line use.
    online = None if allocated is None or offline is None else allocated - offline
    amounts = (_amount(card, "quota"), allocated, online, offline)
    rest = (_amount(card, key) for key in _AMOUNTS)
    cells = (_NOTHING if one is None else str(one) for one in (*amounts, *rest))
    return show(str(card["name"])), *cells


def _amount(card: Mapping[str, Any], key: str) -> int | None:
    """In cards. None: nothing readable is published."""
    found = card.get(key)
    return found if type(found) is int else None


def _bar(card: Mapping[str, Any]) -> str:
    """Full from the quota on: a cell says by how much it is exceeded."""
    held, quota = _amount(card, "allocated") or 0, _amount(card, "quota") or 0
    filled = _WIDTH if held >= quota else -(-_WIDTH * held // quota)
    return "█" * (filled if held > 0 else 0) + "░" * (_WIDTH - filled if held > 0 else _WIDTH)

"""`cardquota top`: read queues, print their numbers."""

import asyncio
import sys
import time
from collections.abc import Iterator, Mapping
from typing import Any, Final

from rich.text import Text

from ...quota.vocabulary import QueueState
from ...quota.words import counted, listed, show
from ...settings import Settings
from ..leader import note_unless_led
from ..output import ClusterChoice, Output
from ..printing import bar, print_data, print_lines, table
from ..reading import client_of, done
from .published_queues import OLD_WHILE_CLOSING, PublishedQueue, PublishedQueues, list_queues

_COLUMNS: Final = (
    *("NAME", "STATE", "CARDS", "INQUEUE", "ELASTIC", "REQUESTED", "CPU", "MEMORY"),
    *("WAITING", "NOTE", "AGE"),
)
_WAIT_COLUMNS: Final = ("QUEUE", "WAITING", "OLDEST")
_KEYS: Final = ("cards", "inqueue", "elastic", "requested", "cpu", "memory")
_NOTE: Final = "note"
"""Its column alone is empty where there is nothing to say."""
MOST_NOTES: Final = 20
"""Queues that cannot be read of which a line says why. The rest are counted."""
_NOTHING: Final = "-"
_LONGEST: Final = 400
"""Characters of a cell. What the operator writes is shorter."""
_UNITS: Final = ((86_400, "d"), (3_600, "h"), (60, "m"), (1, "s"))


def top(settings: Settings, *, cluster: ClusterChoice, output: Output) -> None:
    """What each queue holds is what the operator has published on it: one list, whatever number of
    pods there is. The Lease tells whether it is of now. Errors: typer.Exit, if it could not be
    listed.
    """
    found, unled = done(_read(settings, cluster))
    if output.is_data:
        print_data(in_data(found, unled), output)
    else:
        bars = sys.stdout.isatty()
        now = int(time.time() * 1000)
        print_lines(lines(found, now, unled=unled, output=output, bars=bars))


async def _read(settings: Settings, cluster: ClusterChoice) -> tuple[PublishedQueues, str]:
    """The queues, and what to say if nobody leads."""
    async with client_of(cluster) as client:
        looking = asyncio.create_task(note_unless_led(client, settings.namespace))
        try:
            return await list_queues(client), await looking
        finally:
            looking.cancel()
            await asyncio.gather(looking, return_exceptions=True)


def in_data(found: PublishedQueues, unled: str = "") -> dict[str, Any]:
    """For programs: all that is published of each queue, in the form of the status."""
    return {
        "queues": [
            {
                "name": queue.name,
                "state": queue.state or QueueState.OPEN,
                "publishedIn": queue.where,
                "status": queue.published,
            }
            for queue in found.queues
        ],
        "unreadable": found.unreadable,
        "notes": notes(found, unled),
    }


def notes(found: PublishedQueues, unled: str = "") -> list[str]:
    """What is not shown, or old, and why."""
    silent = [show(queue.name) for queue in found.queues if not queue.columns]
    told = [f"left out: queue {one}" for one in found.unreadable[:MOST_NOTES]]
    if len(found.unreadable) > MOST_NOTES:
        more = counted(len(found.unreadable) - MOST_NOTES, "more queue")
        told.append(f"left out: {more}")
    if silent:
        told.append(
            f"no numbers are published for {listed(silent, most=4)}: see whether a replica leads "
            "(metric cardquota_leader), and what its log says"
        )
    closing = [show(queue.name) for queue in found.queues if queue.cannot_be_written]
    if closing:
        told.append(f"the numbers of {listed(closing, most=4)} may be old: {OLD_WHILE_CLOSING}")
    if unled:
        told.insert(0, unled)
    return [show(note, most=_LONGEST) for note in told]


def lines(
    found: PublishedQueues,
    now: int,
    *,
    unled: str = "",
    output: Output = Output.TEXT,
    bars: bool = False,
) -> Iterator[Text]:
    """For people: as `kubectl get queues -o wide` where our definition is installed; of wide output
    a row for each card. `now`: milliseconds since 1970. `unled`: what to say if nobody leads.
    `bars`: draw how much is allocated, where there is a row for it.
    """
    told = notes(found, unled)
    for note in told:
        yield Text(f"note: {note}", style="dim")
    if told:
        yield Text()
    if not found.queues:
        yield Text("No queues.")
    elif output is Output.WIDE:
        yield from wide_lines(found, bars=bars)
        yield from _who_wait(found, now)
    else:
        yield from table([_COLUMNS, *(_row(queue, now) for queue in found.queues)])


def _who_wait(found: PublishedQueues, now: int) -> Iterator[Text]:
    """A line for each queue of which pods wait: the rows above are of cards."""
    waiting = [queue for queue in found.queues if queue.waiting[0]]
    if waiting:
        yield Text()
        yield from table([_WAIT_COLUMNS, *(_wait_row(queue, now) for queue in waiting)])


def _wait_row(queue: PublishedQueue, now: int) -> tuple[str, ...]:
    pods, oldest = queue.waiting
    return show(queue.name), str(pods), _since(oldest, now)


def _row(queue: PublishedQueue, now: int) -> tuple[str, ...]:
    columns = queue.columns
    cells = (show(columns.get(key) or _NOTHING, most=_LONGEST) for key in _KEYS)
    note = show(columns.get(_NOTE, ""), most=_LONGEST)
    names = show(queue.name), show(queue.state or QueueState.OPEN)
    return (*names, *cells, _waiting(queue, now), note, _since(queue.created, now))


def _waiting(queue: PublishedQueue, now: int) -> str:
    """How many pods wait, and for how long the first of them has."""
    pods, oldest = queue.waiting
    return f"{pods} ({_since(oldest, now)})" if pods else _NOTHING


def _since(moment: int | None, now: int) -> str:
    return _NOTHING if moment is None else _short(max(0, now - moment) // 1000)


def _short(seconds: int) -> str:
    """As kubectl prints ages: in the largest unit of which there are two."""
    for size, unit in _UNITS:
        if seconds >= 2 * size:
            return f"{seconds // size}{unit}"
    return f"{seconds}s"


_WIDE_COLUMNS: Final = (
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
_WIDE_NOTE: Final = "NOTE"


def wide_lines(found: PublishedQueues, *, bars: bool) -> Iterator[Text]:
    """The table. `bars`: how much of the quota is allocated, drawn behind each row.

    A queue of which no card is published has one row. What is wrong with a queue stands in its
    first row.
    """
    head = (*_WIDE_COLUMNS, *([_BAR] if bars else []), _WIDE_NOTE)
    rows: list[tuple[str, ...]] = [head]
    for queue in found.queues:
        names = show(queue.name), show(queue.state or QueueState.OPEN)
        note = show(queue.columns.get("note", ""), most=_LONGEST)
        if not queue.cards:
            rows.append((*names, *[_NOTHING] * (len(head) - 3), note))
        for number, card in enumerate(queue.cards):
            held, quota = _amount(card, "allocated") or 0, _amount(card, "quota") or 0
            drawn = [bar(held, quota)] if bars else []
            rows.append((*names, *_cells(card), *drawn, "" if number else note))
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

"""`cardquota top`: read queues with what the operator has published of each, in the status, or in
the annotation beside Volcano, whose definition of Queues has no fields for it; print the numbers.
"""

import asyncio
import sys
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from rich.text import Text

from ...cluster.api.client import Client
from ...cluster.watch.listing import Unreadable
from ...control.queues.published_status import PATH, StatusAnnotation, StatusFields
from ...quota.objects.meta import Meta, Wire
from ...quota.vocabulary import QueueState
from ...quota.words import counted, listed, read_moment, show
from ...settings import Settings
from ..leader import note_unless_led
from ..output import ClusterChoice, Output
from ..printing import bar, print_data, print_lines, table
from ..reading import NOT_FOUND, ClusterError, client_of, done
from ..reading import listed as listed_objects

OLD_WHILE_CLOSING: Final = (
    "Volcano's webhook refuses every update of a queue that is Closing: its numbers are right "
    "again once it is Closed or Open"
)
_CARDS: Final = "cards"
MOST_ROWS: Final = 1_000
"""Of one queue. The operator publishes no more than fit on the object."""
_PUBLISHED_COLUMNS: Final = "columns"


class _TopMeta(Meta):
    annotations: Any = None


class _TopQueue(Wire):
    """What is read of a queue: its form is not relied upon."""

    metadata: _TopMeta
    status: Any = None


@dataclass(frozen=True, slots=True)
class PublishedQueue:
    """One queue."""

    name: str
    created: int | None
    """Milliseconds since 1970; None if that cannot be read."""
    state: str
    """Empty: nobody has written one, so it is open."""
    published: dict[str, Any]
    """As in the status. Of the operator only if it says `where`."""
    in_annotation: bool

    @property
    def columns(self) -> dict[str, str]:
        """By name, those that are texts."""
        found = self.published.get(_PUBLISHED_COLUMNS)
        if not isinstance(found, dict):
            return {}
        return {key: text for key, text in found.items() if isinstance(text, str)}

    @property
    def where(self) -> str | None:
        """Where anything readable of it is published. A queue without a quota has no cards."""
        if not (self.published.get(_CARDS) or self.published.get(_PUBLISHED_COLUMNS)):
            return None
        return "annotation" if self.in_annotation else "status"

    @property
    def cards(self) -> list[dict[str, Any]]:
        """A row each, in the order of the status, which is by name. What is no row is left out."""
        rows = self.published.get(_CARDS)
        some = rows[:MOST_ROWS] if isinstance(rows, list) else []
        return [row for row in some if isinstance(row, dict) and isinstance(row.get("name"), str)]

    @property
    def cannot_be_written(self) -> bool:
        """Whether what is published may be old: beside Volcano's definition of Queues it is in an
        annotation, and Volcano's webhook refuses every update of a queue that is Closing.
        """
        return self.in_annotation and self.state == QueueState.CLOSING

    @property
    def waiting(self) -> tuple[int, int | None]:
        """How many pods wait at their gate, and when the first of them was created: milliseconds
        since 1970; None if none waits, or that cannot be read.
        """
        found = self.published.get("waiting")
        pods = found.get("pods") if isinstance(found, dict) else None
        if not isinstance(found, dict) or type(pods) is not int or pods <= 0:
            return 0, None
        oldest = found.get("oldest")
        return pods, read_moment(oldest) if isinstance(oldest, str) else None


@dataclass(slots=True, repr=False)  # asyncio.run would write out 10,000 queues, for nobody
class PublishedQueues:
    """All of them, by name."""

    queues: list[PublishedQueue]
    unreadable: list[str]
    """Queues that do not have the form of their kind, and why."""


async def list_queues(client: Client) -> PublishedQueues:
    """Needs the right to list queues. Errors: ClusterError."""
    found = PublishedQueues([], [])
    try:
        async for queue in listed_objects(client, PATH, _TopQueue):
            if isinstance(queue, Unreadable):
                found.unreadable.append(f"{queue.name}: {queue.error}")
            else:
                found.queues.append(_published(queue))
    except ClusterError as error:
        if error.status != NOT_FOUND:
            raise
        raise ClusterError(
            "the cluster has no definition of Queue; apply the manifests of cardquota first"
        ) from error
    return found


def _published(queue: _TopQueue) -> PublishedQueue:
    """What is published of a queue, wherever that is."""
    meta = queue.metadata
    annotations = meta.annotations if isinstance(meta.annotations, dict) else {}
    status = queue.status if isinstance(queue.status, dict) else {}
    raw = {"metadata": {"annotations": annotations}, "status": status}
    fields = StatusFields().seen(raw).status
    in_annotation = not fields.get(_CARDS)
    published = StatusAnnotation().seen(raw).status if in_annotation else fields
    state = status.get("state")
    return PublishedQueue(
        name=meta.name,
        created=read_moment(meta.creation_timestamp),
        state=state if isinstance(state, str) else "",
        published=published or fields,
        in_annotation=in_annotation and bool(published),
    )


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
    "BORROWED",
)
_AMOUNTS: Final = ("inqueue", "elastic", "requested", "guarantee", "deserved", "borrowed")
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

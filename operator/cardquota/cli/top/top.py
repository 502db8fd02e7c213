"""`cardquota top`: read queues, print their numbers."""

import asyncio
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from rich.text import Text

from ...cluster.api.access import AccessError
from ...quota.reports.outside_use import OutsideUse, outside_use
from ...quota.vocabulary import QueueState
from ...quota.words import listed, show
from ...settings import Settings
from .. import sentences
from ..cards.card_sources import ClusterError
from ..check.checked_cluster import JUDGED_BY, NODES, PODS, read_cluster
from ..printing import print_json, print_lines
from ..table import table
from .published_queues import PublishedQueue, PublishedQueues, read_queues

_COLUMNS: Final = (
    "NAME",
    "STATE",
    "CARDS",
    "INQUEUE",
    "ELASTIC",
    "REQUESTED",
    "CPU",
    "MEMORY",
    "NOTE",
    "AGE",
)
_KEYS: Final = ("cards", "inqueue", "elastic", "requested", "cpu", "memory")
_NOTE: Final = "note"
"""Its column alone is empty where there is nothing to say."""
_NOTHING: Final = "-"
_LONGEST: Final = 400
"""Characters of a cell. What the operator writes is shorter."""
_UNITS: Final = ((86_400, "d"), (3_600, "h"), (60, "m"), (1, "s"))


def top(settings: Settings, *, kubeconfig: Path | None, context: str, as_json: bool) -> int:
    """The exit code: 0 if the list was made, 1 if it could not be, 2 if no cluster was found."""
    try:
        found, outside = asyncio.run(_read(settings, kubeconfig, context))
    except (AccessError, ClusterError) as error:
        sys.stderr.write(f"cardquota: {' '.join(str(error).split())}\n")
        return 2 if isinstance(error, AccessError) else 1
    if as_json:
        print_json(in_json(found, outside))
    else:
        print_lines(lines(found, int(time.time() * 1000), outside))
    return 0


async def _read(
    settings: Settings, kubeconfig: Path | None, context: str
) -> tuple[PublishedQueues, OutsideUse | str]:
    """The queues; and what is used outside all of them, or why that is not known."""
    queues = await read_queues(kubeconfig, context)
    try:
        read = await read_cluster(kubeconfig, context, "", settings, only=JUDGED_BY)
    except ClusterError as error:
        return queues, str(error)
    # Without a node nobody knows which card a pod has there.
    lacking = [kind for kind in (PODS, NODES) if kind in read.unread]
    if lacking:
        return queues, sentences.not_listed(lacking[0], read.unread[lacking[0]])
    return queues, outside_use(read.ledger)


def in_json(found: PublishedQueues, outside: OutsideUse | str) -> dict[str, Any]:
    """For programs: all that is published of each queue, in the form of the status."""
    known = None if isinstance(outside, str) else outside
    return {
        "queues": [
            {
                "name": queue.name,
                "state": queue.state or QueueState.OPEN,
                "publishedIn": _where(queue),
                "status": queue.published,
            }
            for queue in found.queues
        ],
        "outside": known and {"pods": known.pods, "cards": dict(known.cards)},
        "unreadable": found.unreadable,
    }


def lines(found: PublishedQueues, now: int, outside: OutsideUse | str) -> Iterator[Text]:
    """For people: as `kubectl get queues -o wide` where our definition is installed. `now`:
    milliseconds since 1970. `outside`: what is used outside every queue, or why it is not known.
    """
    silent = [show(queue.name) for queue in found.queues if not _columns(queue)]
    notes = [sentences.left_out_queue(one) for one in found.unreadable]
    if silent:
        notes.append(sentences.nothing_published(listed(silent, most=4)))
    if isinstance(outside, str):
        notes.append(sentences.outside_not_known(outside))
    for note in notes:
        yield Text(f"note: {show(note, most=_LONGEST)}", style="dim")
    if notes:
        yield Text()
    if found.queues:
        yield from table([_COLUMNS, *(_row(queue, now) for queue in found.queues)])
    else:
        yield Text(sentences.NO_QUEUE)
    if not isinstance(outside, str) and outside.pods:
        yield Text()
        yield Text(show(sentences.used_outside(outside), most=_LONGEST))


def _row(queue: PublishedQueue, now: int) -> tuple[str, ...]:
    columns = _columns(queue)
    cells = (show(columns.get(key) or _NOTHING, most=_LONGEST) for key in _KEYS)
    note = show(columns.get(_NOTE, ""), most=_LONGEST)
    age = _NOTHING if queue.created is None else _short(max(0, now - queue.created) // 1000)
    return (show(queue.name), show(queue.state or QueueState.OPEN), *cells, note, age)


def _columns(queue: PublishedQueue) -> dict[str, str]:
    found = queue.published.get("columns")
    if not isinstance(found, dict):
        return {}
    return {key: text for key, text in found.items() if isinstance(text, str)}


def _where(queue: PublishedQueue) -> str | None:
    if not queue.is_published:
        return None
    return "annotation" if queue.in_annotation else "status"


def _short(seconds: int) -> str:
    """As kubectl prints ages: in the largest unit of which there are two."""
    for size, unit in _UNITS:
        if seconds >= 2 * size:
            return f"{seconds // size}{unit}"
    return f"{seconds}s"

"""What audit mode would have refused, or made wait, by hour: the text that replicas share.

One entry for each hour (UTC), so that what is older than a day goes by its name alone. A text that
cannot be read counts as empty: whoever wrote over it has lost that hour, and nothing else.
"""

import json
from collections import Counter
from collections.abc import Collection, Mapping
from datetime import UTC, datetime, timedelta
from typing import Final, NamedTuple

from ..verdict import Effect

HOURS: Final = 24
"""Hours that are kept, the present one included."""
MOST_ROWS: Final = 100
"""Rows of one hour: a day of the longest names is below the API server's limit of 1 MiB."""
OTHERS: Final = "*"
"""Queue and namespace of the row that counts what is beyond them; also the queue of pods that name
one that does not exist, since they may name anything."""
_TOO_MANY: Final = 10**15
"""Nobody has counted so far."""
_FORM: Final = "%Y-%m-%dT%H"


class Audited(NamedTuple):
    """What is counted together."""

    queue: str
    """Of a queue that exists. Empty: the pod has none. OTHERS: it names another one."""
    namespace: str
    effect: Effect
    """What enforcement would have done: DENY or GATE."""


Counts = Counter[Audited]


def hour_of(now: float) -> str:
    """The name of the hour of a time, in seconds since the epoch."""
    return datetime.fromtimestamp(now, UTC).strftime(_FORM)


def recent_hours(now: float) -> tuple[str, ...]:
    """The names of the hours that are kept, oldest first."""
    last = datetime.fromtimestamp(now, UTC)
    return tuple((last - timedelta(hours=n)).strftime(_FORM) for n in reversed(range(HOURS)))


def counted(counts: Counts, row: Audited, number: int = 1, *, most: int = MOST_ROWS) -> Audited:
    """Add to a row; to that of the others where there are too many. The row."""
    if row not in counts and len(counts) >= most:
        row = row._replace(queue=OTHERS, namespace=OTHERS)
    counts[row] += number
    return row


def encoded(counts: Counts) -> str:
    """As it is stored."""
    rows = sorted((*row, number) for row, number in counts.items())
    return json.dumps(rows, separators=(",", ":"))


def decoded(text: str) -> Counts:
    """What was stored. Never raises."""
    found = Counts()
    try:
        for queue, namespace, effect, number in json.loads(text):
            if type(number) is int and 0 < number < _TOO_MANY:
                found[Audited(str(queue), str(namespace), Effect(effect))] += number
    except (ValueError, TypeError, RecursionError):
        return Counts()
    return found


def merged(text: str, new: Counts) -> str:
    """What is stored once the new ones are added."""
    counts = decoded(text)
    for row, number in new.items():
        counted(counts, row, number)
    return encoded(counts)


def of_the_day(stored: Mapping[str, str], now: float) -> Counts:
    """The sum of the hours that are kept."""
    found = Counts()
    for hour in recent_hours(now):
        found.update(decoded(stored.get(hour, "")))
    return found


def too_old(stored: Collection[str], now: float) -> list[str]:
    """The names of entries that are not kept any longer, or are no hours."""
    return sorted(set(stored) - set(recent_hours(now)))

"""The parts of sentences: amounts in the units people use, and user text made safe to show.

Cards are whole numbers, cpu is in cores, memory in Gi (section 9). The sentences are in `messages`.
"""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Final

from .vocabulary import CPU, MEMORY

MOST_LISTED: Final = 5
"""Alternatives that a message lists. The rest are counted."""

_GI: Final = 2**30
_UNITS: Final = ((86_400, "d"), (3_600, "h"), (60, "min"))


def amount_text(dimension: str, amount: int) -> str:
    """An amount of cards, milli-cores or bytes, in the unit that people use (section 9): cores as
    `4`, `4.5`, `0.25`.
    """
    if dimension == CPU:
        return _decimal(amount, 1000)
    return memory_text(amount) if dimension == MEMORY else str(amount)


def amount_texts(dimension: str, *amounts: int) -> list[str]:
    """Amounts to be compared with each other. All are exact if two of them would look equal."""
    texts = [amount_text(dimension, amount) for amount in amounts]
    if len(set(texts)) < len(set(amounts)):
        return [str(amount) for amount in amounts]
    return texts


def memory_text(size: int) -> str:
    """Bytes for people, in Gi: `9Gi`, `0.5Gi`; below a hundredth of a Gi in Mi, Ki or bytes."""
    if size == 0:
        return "0"
    if size % _GI == 0 or abs(size) >= _GI // 100:
        return _decimal(size, _GI) + "Gi"
    for unit, name in ((2**20, "Mi"), (2**10, "Ki")):
        if size % unit == 0:
            return f"{size // unit}{name}"
    return str(size)


def _decimal(amount: int, unit: int) -> str:
    """`amount / unit`, with at most three decimals (rounded half up) and no trailing zeros."""
    sign, amount = ("-", -amount) if amount < 0 else ("", amount)
    thousandths = (amount * 1000 * 2 + unit) // (2 * unit)
    head, tail = divmod(thousandths, 1000)
    return f"{sign}{head}" + (f".{tail:03}".rstrip("0") if tail else "")


_LONGEST_KEY: Final = 2 * 253 + 1
"""Characters of a namespace and a name."""


def show(text: str, *, most: int = 80) -> str:
    """User text made safe for a message: printable, and at most `most` characters."""
    short = text if len(text) <= most else text[: most - 3] + "..."
    return "".join(c if c.isprintable() else "?" for c in short)


def logged(*names: str) -> str:
    """The names of an object and its namespace for a log line, with a bound."""
    return show("/".join(names), most=_LONGEST_KEY)


def listed(names: Sequence[str], between: str = ", ", *, most: int = MOST_LISTED) -> str:
    """The first names that users wrote, then the number of the rest; `none` if there are none."""
    return first_of([show(name) for name in names], between, most=most) or "none"


def first_of(texts: Sequence[str], between: str, *, most: int = MOST_LISTED) -> str:
    """The first of the texts, which must be safe to show, then the number of the rest."""
    shown, more = between.join(texts[:most]), len(texts) - most
    return f"{shown} and {more} more" if more > 0 else shown


def counted(number: int, what: str) -> str:
    """`1 pod`, `2 pods`."""
    return f"{number} {what}" if number == 1 else f"{number} {what}s"


def lasting(seconds: int) -> str:
    """A time that has passed, in the largest unit of which it has two, rounded down."""
    for size, unit in _UNITS:
        if seconds >= 2 * size:
            return f"{seconds // size} {unit}"
    return f"{seconds} s"


_LONGEST: Final = 40
"""Characters; the API server's own have at most 27."""
_FIRST: Final = datetime.fromtimestamp(0, UTC)
_MILLISECOND: Final = timedelta(milliseconds=1)


def read_moment(text: object) -> int | None:
    """What an RFC 3339 text says; None if it says no time."""
    if not isinstance(text, str) or len(text) > _LONGEST:
        return None
    try:
        found = datetime.fromisoformat(text)
        return None if found.tzinfo is None else (found - _FIRST) // _MILLISECOND
    except (ValueError, OverflowError):
        return None


def seconds_of(text: str | None) -> int | None:
    """The same in whole seconds."""
    found = read_moment(text)
    return found // 1000 if found is not None else None


def time_text(seconds: int) -> str:
    """The inverse, as the API server writes it."""
    return datetime.fromtimestamp(seconds, UTC).isoformat().replace("+00:00", "Z")

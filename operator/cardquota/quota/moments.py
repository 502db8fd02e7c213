"""Times of day as the API server stores them, in whole milliseconds or seconds since 1970."""

from datetime import UTC, datetime, timedelta
from typing import Final

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

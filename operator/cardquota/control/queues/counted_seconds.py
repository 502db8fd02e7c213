"""Card-seconds in the status of a queue (T5): they grow all the time, and are written now and then.

Of a card that is held they alone are no reason to write, until they are older than half of what the
setting allows. Of one that is not they stand still, and another number there is somebody else's.
"""

from collections.abc import Mapping
from typing import Any, Final

from ...quota.moments import read_moment

UNTIL: Final = "cardSecondsUntil"


def without_growth(status: Mapping[str, Any]) -> dict[str, Any]:
    """A status without what grows by itself."""
    rows = [{**row, "seconds": None} if row.get("allocated") else row for row in _rows(status)]
    return {**status, "cards": rows, UNTIL: None}


def without_seconds(status: Mapping[str, Any]) -> dict[str, Any]:
    """A status without all that is counted."""
    return {**status, "cards": [{**row, "seconds": None} for row in _rows(status)], UNTIL: None}


def counted_in(status: Mapping[str, Any]) -> object:
    """What a status says was counted, and until when; to be compared."""
    return status.get(UNTIL), {str(row.get("name")): row.get("seconds") for row in _rows(status)}


def outdated(stored: Mapping[str, Any], wanted: Mapping[str, Any], refresh: float) -> bool:
    """Whether what is stored has to be written again for its card-seconds alone. `refresh`: seconds
    after which at the latest.
    """
    now = read_moment(wanted.get(UNTIL))
    if now is None or not any(row.get("allocated") for row in _rows(wanted)):
        return False
    until = read_moment(stored.get(UNTIL))
    return until is None or not 0 <= now - until < refresh * 1000 / 2


def _rows(status: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The rows of cards in a status of any origin."""
    rows = status.get("cards")
    return [row for row in rows if isinstance(row, dict)] if isinstance(rows, list) else []

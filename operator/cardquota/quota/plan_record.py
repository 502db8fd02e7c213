"""The write-ahead mark of what is ended for somebody (L5): an annotation on the pod, or PodGroup,
that room is made for. From then on a new leader goes on with the same victims, and ends no others.
"""

import json
from typing import Any, Final, NamedTuple

from .limits import LONGEST_OBJECT_NAME, PLAN_TEXT, PLAN_VICTIMS, TERM_TEXT
from .words import seconds_of, time_text

_LONGEST_UID: Final = 64
"""Characters."""


class PlanRecord(NamedTuple):
    """What is ended for one pod or gang; or that it was in vain."""

    term: str
    """The one that decided."""
    since: int
    """When, seconds since 1970."""
    way: str
    """A `ReclaimWay`."""
    card: str
    """What the waiting one lacks. Nobody else is released for it meanwhile."""
    victims: tuple[str, ...]
    """Uids."""
    gave_up: int = 0
    """When it was over without a start, seconds since 1970; 0: it is not over."""


def plan_text(record: PlanRecord) -> str:
    """The value of `card.reclaim` on a pod or PodGroup."""
    found: dict[str, Any] = {
        "term": record.term,
        "since": time_text(record.since),
        "way": record.way,
        "card": record.card,
        "victims": record.victims,
    }
    if record.gave_up:
        found["gaveUp"] = time_text(record.gave_up)
    return json.dumps(found, separators=(",", ":"))


def read_plan(text: str) -> PlanRecord | None:
    """The inverse of `plan_text`, or None if we cannot have written the text."""
    if len(text) > PLAN_TEXT.most:
        return None
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return None
    if not isinstance(found, dict):
        return None
    term, way, card = (found.get(key) for key in ("term", "way", "card"))
    victims = found.get("victims")
    if not (_is_text(term, TERM_TEXT.most) and _is_text(way, 16)):
        return None
    if not (_is_text(card, 2 * LONGEST_OBJECT_NAME) and isinstance(victims, list)):
        return None
    if len(victims) > PLAN_VICTIMS.most or not all(_is_text(one, _LONGEST_UID) for one in victims):
        return None
    since, gave_up = _time(found.get("since")), _time(found.get("gaveUp", ""))
    if not since or gave_up is None:
        return None
    return PlanRecord(term, since, way, card, tuple(victims), gave_up)


def _is_text(value: object, longest: int) -> bool:
    return isinstance(value, str) and len(value) <= longest


def _time(value: object) -> int | None:
    """Seconds since 1970; 0 for an empty text. None: it is no time."""
    if not isinstance(value, str):
        return None
    return seconds_of(value) if value else 0

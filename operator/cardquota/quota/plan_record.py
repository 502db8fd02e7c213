"""The write-ahead mark of what is ended for somebody (L5): an annotation on the pod, or PodGroup,
that room is made for. From then on a new leader goes on with the same victims, and ends no others.
"""

import json
from typing import Any, Final, NamedTuple

from .limits import LONGEST_OBJECT_NAME, PLAN_TEXT, PLAN_VICTIMS, TERM_TEXT
from .words import seconds_of, time_text

_LONGEST_UID: Final = 64
"""Characters. So are the others."""
_WAYS: Final = ("reclaim", "preempt")
_LONGEST_CARD: Final = 2 * LONGEST_OBJECT_NAME
_LONGEST_TIME: Final = 32


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
    """The value of `card.reclaim-plan` on a pod or PodGroup."""
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
    term, card = _text(found, "term", TERM_TEXT.most), _text(found, "card", _LONGEST_CARD)
    way, victims = found.get("way"), found.get("victims")
    since = seconds_of(_text(found, "since", _LONGEST_TIME))
    gave_up = seconds_of(_text(found, "gaveUp", _LONGEST_TIME)) if "gaveUp" in found else 0
    if not (term and card and since) or way not in _WAYS or gave_up is None:
        return None
    if not isinstance(victims, list) or len(victims) > PLAN_VICTIMS.most:
        return None
    if not all(isinstance(uid, str) and len(uid) <= _LONGEST_UID for uid in victims):
        return None
    return PlanRecord(term, since, way, card, tuple(victims), gave_up)


def _text(found: dict[str, Any], key: str, longest: int) -> str:
    """Empty if it is none, or too long."""
    value = found.get(key)
    return value if isinstance(value, str) and len(value) <= longest else ""

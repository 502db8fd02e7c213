"""Parts of lines: amounts of cards, and how long ago something was."""

from collections.abc import Sequence
from typing import Final

from ...quota.answers.answer_forms import CardAmount
from ...quota.words import first_of, lasting, seconds_of, show

NOTHING: Final = "-"


def amounts_text(amounts: Sequence[CardAmount]) -> str:
    """The first three, then the number of the rest."""
    texts = [f"{show(one.name)} {one.amount}" for one in amounts]
    return first_of(texts, ", ", most=3) or NOTHING


def ago(since: str, now: str) -> str:
    """How long `since` is before `now`, both RFC 3339."""
    first, last = seconds_of(since), seconds_of(now)
    return NOTHING if first is None or last is None else lasting(max(0, last - first))

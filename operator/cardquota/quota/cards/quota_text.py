"""Reading the JSON that users write in annotations: quotas and requests of cards (Q4).

The standard library's json, not msgspec: msgspec hides duplicate keys and odd numbers.
"""

import json
from typing import Any, Final, NoReturn

from ..amounts import LARGEST, Amounts, MutableAmounts
from ..words import show
from .card import CardNameError, Surge, check_name, read_alternatives

MOST_ROWS: Final = 1_000
LONGEST_TEXT: Final = 64 * 1024
"""Bytes of UTF-8."""
MOST_ASKED: Final = 2**53
"""Cards in one row of a request. Programs that read JSON numbers as floats lose larger ones."""


class QuotaTextError(ValueError):
    """The text is not a quota. Says where and why, in words for the user who wrote it."""


def read_quota(text: str) -> Amounts:
    """The number of cards that the quota allows of each card (Q4). Raises QuotaTextError."""
    rows: MutableAmounts = {}
    for name, value in _pairs(text):
        try:
            check_name(name)
        except CardNameError as error:
            raise QuotaTextError(f"{error}; a quota has one row per card") from None
        if name in rows:
            raise QuotaTextError(f"the card <{show(name)}> stands there twice")
        rows[name] = _amount(name, value, least=0)
    return rows


def read_request(text: str) -> dict[tuple[str, ...], int]:
    """What a group's minimum asks for: number of cards, above zero, by alternatives.

    Raises QuotaTextError.
    """
    rows: dict[tuple[str, ...], int] = {}
    for name, value in _pairs(text):
        try:
            alternatives = read_alternatives(name)
        except CardNameError as error:
            raise QuotaTextError(str(error)) from None
        if alternatives in rows:
            raise QuotaTextError(f"the card <{show(name)}> stands there twice")
        rows[alternatives] = _amount(name, value, least=1, most=MOST_ASKED)
    return rows


def _pairs(text: str) -> list[tuple[str, Any]]:
    if len(text) > LONGEST_TEXT or len(text.encode(errors="replace")) > LONGEST_TEXT:
        raise QuotaTextError(f"it is longer than {LONGEST_TEXT // 1024} KiB")
    try:
        # Every object becomes a list of pairs, so that duplicate keys remain visible.
        found = json.loads(text, object_pairs_hook=_Pairs, parse_constant=_no_number)
    except RecursionError:
        raise QuotaTextError("it is nested too deep") from None
    except json.JSONDecodeError as error:
        raise QuotaTextError(
            f"it is not JSON ({error.msg.lower()} at character {error.pos})"
        ) from None
    except ValueError as error:
        detail = str(error) if isinstance(error, QuotaTextError) else "a number is far too long"
        raise QuotaTextError(detail) from None
    if not isinstance(found, _Pairs):
        raise QuotaTextError(f"it is {_kind(found)}, not a JSON object")
    if len(found) > MOST_ROWS:
        raise QuotaTextError(f"it has {len(found)} rows, at most {MOST_ROWS} are allowed")
    return found


class _Pairs(list[tuple[str, Any]]):
    """A JSON object as its pairs. Its type differs from that of a JSON list."""


def _no_number(text: str) -> NoReturn:
    raise QuotaTextError(f"<{text}> is not a number of cards")


def _kind(value: object) -> str:
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true or false"
    if isinstance(value, _Pairs):
        return "an object"
    if isinstance(value, list):
        return "a list"
    return "a string" if isinstance(value, str) else "a number"


def _amount(name: str, value: object, *, least: int, most: int = LARGEST) -> int:
    where = f"the amount of <{show(name)}>"
    if isinstance(value, float):
        raise QuotaTextError(f"{where} is {value}, not a whole number")
    if isinstance(value, bool) or not isinstance(value, int):
        raise QuotaTextError(f"{where} is {_kind(value)}, not a whole number")
    if value < least:
        raise QuotaTextError(f"{where} is {show(str(value))}, at least {least} is needed")
    if value > most:
        raise QuotaTextError(f"{where} is more than can be counted")
    return value


_LONGEST_NUMBER: Final = 32
"""Characters."""


def read_surge(text: str) -> Surge:
    """A whole number, or a JSON object as in a quota. Raises QuotaTextError."""
    bare = text[: _LONGEST_NUMBER + 1].strip()
    if len(text) <= _LONGEST_NUMBER and bare.isascii() and bare.isdecimal():
        if int(bare) > LARGEST:
            raise QuotaTextError("it is more than can be counted")
        return Surge(each=int(bare))
    if not text.lstrip().startswith("{"):
        raise QuotaTextError("it is neither a whole number nor a JSON object")
    return Surge(by_card={card: number for card, number in read_quota(text).items() if number})

"""How many cards the rolling updates of a queue may borrow for a time (R6)."""

from typing import Final, NamedTuple

from ..amounts import NO_AMOUNTS, Amounts
from ..quantity import LARGEST
from .card import is_memory
from .quota_text import QuotaTextError, read_quota


class Surge(NamedTuple):
    """By card, or the same number of each card that has a quota."""

    each: int = 0
    by_card: Amounts = NO_AMOUNTS

    def __bool__(self) -> bool:
        return bool(self.each or self.by_card)

    def of(self, card: str) -> int:
        """Of a card that has a quota. A number for each card is none of card memory (B10)."""
        each = 0 if is_memory(card) else self.each
        return each or self.by_card.get(card, 0)


NO_SURGE: Final = Surge()
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

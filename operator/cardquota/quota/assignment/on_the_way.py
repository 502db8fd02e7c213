"""Gated Deny pods that the leader will let through as soon as it judges them (E2)."""

from collections import Counter
from collections.abc import Mapping
from typing import Final, NamedTuple

from ..amounts import Amounts
from .claim import Claim

_NO_GROUPS: Final[Mapping[str, Amounts]] = {}

Spare = Mapping[str, int]
"""What a group has reserved of a card and some of its members may use, in cards: by a name that
stands for both. No dimension, but to an assignment it is one more card.
"""
_NO_SPARE: Final[Spare] = {}


class OnTheWay(NamedTuple):
    """What these pods will hold of a queue together, beyond what is already reserved for them."""

    amounts: Amounts
    """Cards of pods without a choice of cards; cpu and memory of all."""
    claims: tuple[tuple[Claim, int], ...] = ()
    """Claims of pods with a choice of cards, and how many pods have each (T3)."""
    spare: Spare = _NO_SPARE
    """Reservations for some of them; their claims list its names beside the cards."""
    covered: Mapping[str, Amounts] = _NO_GROUPS
    """By group with a reservation: what its pods ask for, reserved or not."""

    def beside(self, more: Amounts) -> Amounts:
        """The amounts with `more` added."""
        if not self.amounts or not more:
            return more or self.amounts
        return {d: self.amounts.get(d, 0) + more.get(d, 0) for d in (*self.amounts, *more)}

    def at_first(self) -> Counter[str]:
        """An estimate of the amounts, if pods with a choice use their reservations, and then their
        first card.
        """
        found, spare = Counter(self.amounts), dict(self.spare)
        for claim, number in self.claims:
            left = number
            for name in claim.cards:
                used = min(left, spare.get(name, 0) // claim.amount)
                if used:
                    spare[name] -= used * claim.amount
                    left -= used
            found[claim.cards[0]] += left * claim.amount
        return found


NOBODY: Final = OnTheWay({})

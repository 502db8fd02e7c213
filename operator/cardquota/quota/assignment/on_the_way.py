"""Gated Deny pods that the leader will let through as soon as it judges them (E2)."""

from collections import Counter
from collections.abc import Mapping
from typing import Final, NamedTuple

from .claim import Claim

_NOTHING: Final[Mapping[str, int]] = {}
_NO_GROUPS: Final[Mapping[str, Mapping[str, int]]] = {}


class OnTheWay(NamedTuple):
    """What these pods will hold of a queue together, beyond what is already reserved for them."""

    amounts: Mapping[str, int]
    """By dimension: cards of pods without a choice of cards, cpu and memory of all."""
    claims: tuple[tuple[Claim, int], ...] = ()
    """Claims of pods with a choice of cards, and how many pods have each (T3)."""
    spare: Mapping[str, int] = _NOTHING
    """Reservations for some of them, by names that their claims list beside the cards."""
    covered: Mapping[str, Mapping[str, int]] = _NO_GROUPS
    """By group with a reservation and by dimension: what its pods ask for, reserved or not."""

    def beside(self, more: Mapping[str, int]) -> Mapping[str, int]:
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

"""Gated Deny pods that will be let through as soon as the leader comes to them (E2)."""

from collections import Counter
from collections.abc import Mapping
from typing import Final, NamedTuple

from .claim import Claim

_NOTHING: Final[Mapping[str, int]] = {}
_NO_GROUPS: Final[Mapping[str, Mapping[str, int]]] = {}


class OnTheWay(NamedTuple):
    """What they will hold of a queue together, beyond what is reserved for them already."""

    amounts: Mapping[str, int]
    """By dimension, of those without a choice of cards; cpu and memory of all."""
    claims: tuple[tuple[Claim, int], ...] = ()
    """Of those that may use one card or another, and how many ask for each (T3)."""
    spare: Mapping[str, int] = _NOTHING
    """What is reserved for some of them, by names that their claims have beside those of cards."""
    covered: Mapping[str, Mapping[str, int]] = _NO_GROUPS
    """By group with a reservation and by dimension: what they ask for, its part included."""

    def beside(self, more: Mapping[str, int]) -> Mapping[str, int]:
        """The amounts with others."""
        if not self.amounts or not more:
            return more or self.amounts
        return {d: self.amounts.get(d, 0) + more.get(d, 0) for d in (*self.amounts, *more)}

    def at_first(self) -> Counter[str]:
        """The amounts, if those with a choice use what is reserved for them, and of cards the
        first: an estimate.
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

"""Gated Deny pods that will be let through as soon as the leader comes to them (E2)."""

from collections.abc import Mapping
from typing import Final, NamedTuple

from .claim import Claim


class OnTheWay(NamedTuple):
    """What they will hold of a queue together."""

    amounts: Mapping[str, int]
    """By dimension, of those without a choice of cards; cpu and memory of all."""
    claims: tuple[tuple[Claim, int], ...] = ()
    """Of those that may use one card or another, and how many ask for each (T3)."""

    def beside(self, more: Mapping[str, int]) -> Mapping[str, int]:
        """The amounts with others."""
        if not self.amounts or not more:
            return more or self.amounts
        return {d: self.amounts.get(d, 0) + more.get(d, 0) for d in (*self.amounts, *more)}


NOBODY: Final = OnTheWay({})

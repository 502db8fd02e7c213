"""The arithmetic of one request against one queue's totals (E2, E4, T3)."""

from collections.abc import Callable, Mapping, Sequence
from enum import IntEnum

from .account import Account
from .assignment import Assignment
from .claim import Claim, claim_of
from .group_book import GroupBook
from .pod_request import PodRequest
from .stamp import Charge
from .verdict import Shortfall


class Chance(IntEnum):
    """When a pod could have a card, of those with quota (E7); more is better."""

    NONE = 0
    """No node is known that could give it."""
    LATER = 1
    """Nodes that the pod picks by other labels have it, and none has it free."""
    NOW = 2
    """A node has it free."""


Preference = Callable[[str], Chance]
"""How good a card's chance is."""


class Asking:
    """What of a request is short, and of which card there is enough.

    Only what is asked for counts: of neither cards nor cpu and memory does a zero get here (E4).
    `beside`: what is asked for together with it, by dimension. `at_create`: gated Deny pods count
    as let through. `book`: the pod's group, if it has one.
    """

    __slots__ = ("_account", "_at_create", "_beside", "_book")

    def __init__(
        self,
        account: Account,
        book: GroupBook | None,
        beside: Mapping[str, int],
        *,
        at_create: bool,
    ) -> None:
        self._account = account
        self._book = book
        self._at_create = at_create
        self._beside = beside

    def cards(
        self, request: PodRequest, *, only: str = "", chance_of: Preference | None = None
    ) -> tuple[Charge, list[Shortfall]]:
        """Of the alternatives that fit the first to be had at once, or else the first with the best
        chance, or what is short of each (E7). `only`: the one alternative that is asked about.
        """
        amount = request.amount
        if not amount:
            return (), []
        cards = (only,) if only else request.cards
        undecided = self._account.undecided(at_create=self._at_create)
        if undecided is None:
            return self._choose(cards, amount, chance_of, self._short_of)
        with undecided.beside(self._beside) as assignment:
            # Most that ask in vain do so for any of their cards: one question instead of many.
            alike = len(cards) > 1 and not any(self._covered(card, amount) for card in cards)
            some = not alike or _has_place(assignment, claim_of(tuple(cards), amount))

            def short_of(card: str, amount: int) -> Shortfall | None:
                needed = amount - self._covered(card, amount)
                if needed <= 0 or (some and _has_place(assignment, Claim((card,), needed))):
                    return None
                limit = self._account.quota.get(card, 0)
                return Shortfall(card, amount, undecided.held(card) + needed, limit)

            return self._choose(cards, amount, chance_of, short_of)

    def _choose(
        self,
        cards: Sequence[str],
        amount: int,
        chance_of: Preference | None,
        short_of: Callable[[str, int], Shortfall | None],
    ) -> tuple[Charge, list[Shortfall]]:
        shorts: list[Shortfall] = []
        best, found = "", Chance.NONE
        for card in cards:
            short = short_of(card, amount)
            if short is not None:
                shorts.append(short)
                continue
            chance = Chance.NOW if chance_of is None else chance_of(card)
            if chance is Chance.NOW:
                return ((card, amount),), []
            if not best or chance > found:
                best, found = card, chance
        return (((best, amount),), []) if best else ((), shorts)

    def cpu_memory(self, request: PodRequest) -> list[Shortfall]:
        """What is short of cpu and memory."""
        facts = self._account.facts
        if facts is None or not facts.limits:
            return []
        shorts, limits = [], facts.limits
        for dimension, amount in request.cpu_memory:
            limit = limits.get(dimension)
            if limit is not None:
                would_be = self._would_be(dimension, amount)
                if would_be > limit:
                    shorts.append(Shortfall(dimension, amount, would_be, limit))
        return shorts

    def _short_of(self, card: str, amount: int) -> Shortfall | None:
        """What is short of a card by the totals alone: everybody else has a card."""
        would_be, limit = self._would_be(card, amount), self._account.quota.get(card, 0)
        return Shortfall(card, amount, would_be, limit) if would_be > limit else None

    def _would_be(self, dimension: str, amount: int) -> int:
        row, would_be = self._account.rows.get(dimension), amount
        if row is not None:
            would_be += row.expected if self._at_create else row.charged
        if self._beside:
            would_be += self._beside.get(dimension, 0)
        return would_be - self._covered(dimension, amount)

    def _covered(self, dimension: str, amount: int) -> int:
        """What of it the pod's group has reserved: it takes the place of that (E2)."""
        if self._book is None:
            return 0
        together = amount + self._beside.get(dimension, 0)
        return self._book.covers(self._account.name, dimension, together)


def _has_place(assignment: Assignment, claim: Claim) -> bool:
    placed = assignment.place(claim)
    if placed:
        assignment.give_back(claim)
    return placed

"""The arithmetic of one request against one queue's totals (E2, E4, T3)."""

from collections.abc import Callable, Sequence
from enum import IntEnum

from ...accounts.account_reader import AccountReader
from ...amounts import NO_AMOUNTS, Amounts, Charge
from ...assignment.claim import claim_of
from ...assignment.flexible_claims import Others
from ...assignment.on_the_way import NOBODY, OnTheWay
from ...ledger.groups.pod_group_state import PodGroupState
from ...pods.pod_request import PodRequest
from ...verdict import Shortfall


class Availability(IntEnum):
    """When a pod could have a card with quota (E7). More is better."""

    NONE = 0
    """No known node could give it."""
    LATER = 1
    """Nodes that the pod picks by other labels have it, but not free."""
    NOW = 2
    """A node has it free."""


Preference = Callable[[str], Availability]
"""When a pod could have a card, by card."""


class QuotaCheck:
    """What a request is short of, and which card there is enough of.

    Only what is asked for counts: zero cards, cpu or memory are not checked (E4). `beside`: what is
    asked for together with it. `on_the_way`: at create, other pods that count as let
    through. `group`: the pod's group, if any.
    """

    __slots__ = ("_account", "_asked_with", "_before", "_beside", "_group", "_way")

    def __init__(
        self,
        account: AccountReader,
        group: PodGroupState | None,
        beside: Amounts,
        *,
        on_the_way: OnTheWay = NOBODY,
    ) -> None:
        self._account = account
        reserved = group.reservation if group is not None else None
        self._group = group if reserved is not None and reserved.queue == account.name else None
        self._asked_with = beside
        self._beside = on_the_way.beside(beside)
        """`beside`, and what pods on their way will hold."""
        self._way = on_the_way
        self._before = on_the_way.covered.get(group.key, NO_AMOUNTS) if group else NO_AMOUNTS
        """What other pods of its group that are on their way ask for."""

    def cards(
        self,
        request: PodRequest,
        *,
        only: str | None = None,
        availability_of: Preference | None = None,
        lent: int = 0,
    ) -> tuple[Charge, list[Shortfall]]:
        """Of the alternatives that fit, the first with the best availability; else what each of
        them is short of (E7). `only`: judge this one alternative. `lent`: cards of it that may be
        used beyond the quota (R6).
        """
        amount = request.amount
        if not amount:
            return (), []
        cards = request.cards if only is None else (only,)
        flexible_claims = self._account.flexible_claims
        if flexible_claims is None and not self._way.claims:
            return self._choose(cards, amount, availability_of, None, lent)
        if flexible_claims is None:
            flexible_claims = self._account.no_flexible_claims()
        with flexible_claims.beside(self._beside, self._way.claims, self._way.spare) as others:
            return self._choose(cards, amount, availability_of, others, lent)

    def _choose(
        self,
        cards: Sequence[str],
        amount: int,
        availability_of: Preference | None,
        others: Others | None,
        lent: int,
    ) -> tuple[Charge, list[Shortfall]]:
        # A pod that does not fit usually fits none of its cards: one check instead of many.
        hopeless = (
            others is not None
            and len(cards) > 1
            and not any(self._covered(card, amount) for card in cards)
            and not others.leave_room_for(claim_of(tuple(cards), amount))
        )
        best: str | None = None
        found = Availability.NONE
        for card in () if hopeless else cards:
            if not self._fits(card, amount, others, lent):
                continue
            availability = Availability.NOW if availability_of is None else availability_of(card)
            if availability is Availability.NOW:
                return ((card, amount),), []
            if best is None or availability > found:
                best, found = card, availability
        if best is not None:
            return ((best, amount),), []
        return (), [self._short_of(card, amount, others) for card in cards]

    def _fits(self, card: str, amount: int, others: Others | None, lent: int) -> bool:
        """Whether there is enough of a card. The limit is always checked, also for amounts that a
        reservation covers: it may have been lowered since (Q7).

        It fits if the limit holds with all pods with a choice (`others`) elsewhere, and if all of
        these can then be assigned beside what of it is not borrowed.
        """
        needed = amount if self._group is None else amount - self._covered(card, amount)
        left = self._account.quota.get(card, 0) - self._inflexible(card)
        if needed > left + lent:
            return False
        borrowed = max(0, lent + min(0, left))
        return others is None or others.leave_room(card, max(0, needed - borrowed))

    def _short_of(self, card: str, amount: int, others: Others | None) -> Shortfall:
        """The numbers for a card that is short."""
        held = self._inflexible(card) if others is None else others.held(card)
        would_be = held + amount - self._covered(card, amount)
        leaving = self._account.row(card).leaving
        return Shortfall(card, amount, would_be, self._account.quota.get(card, 0), leaving)

    def cpu_memory(self, request: PodRequest) -> list[Shortfall]:
        """The shortfalls of cpu and memory."""
        facts = self._account.facts
        if facts is None or not facts.limits:
            return []
        shorts, limits = [], facts.limits
        for dimension, amount in request.cpu_memory:
            limit = limits.get(dimension)
            if limit is not None:
                would_be = self._inflexible(dimension) + amount - self._covered(dimension, amount)
                if would_be > limit:
                    leaving = self._account.row(dimension).leaving
                    shorts.append(Shortfall(dimension, amount, would_be, limit, leaving))
        return shorts

    def _inflexible(self, dimension: str) -> int:
        """What is charged whatever pods with a choice get, and what is asked for beside it."""
        row, found = self._account.rows.get(dimension), self._beside.get(dimension, 0)
        if row is not None:
            found += row.charged
            if self._account.flexible_claims is not None:
                found -= self._account.flexible_claims.shown(dimension)
        return found

    def _covered(self, dimension: str, amount: int) -> int:
        """The part of `amount` that the pod's group has reserved; the pod replaces it (E2)."""
        if self._group is None:
            return 0
        before, queue = self._before.get(dimension, 0), self._account.name
        total = amount + self._asked_with.get(dimension, 0) + before
        covered = self._group.covers(queue, dimension, total)
        return covered - self._group.covers(queue, dimension, before) if before else covered

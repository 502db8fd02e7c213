"""May this group be enqueued, before its pods are there? (E1)

Minimum + allocated + inqueue - elastic <= what is allowed, in every dimension that is asked for.
Pure questions to the ledger: nothing is charged here.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

from ...accounts.account import Account
from ...accounts.account_reader import AccountReader
from ...amounts import Amount, Charge, MutableAmounts, canonical, is_card
from ...assignment.claim import claim_of
from ...assignment.flexible_claims import FlexibleClaims
from ...ledger.groups.group_facts import GroupFacts
from ...ledger.groups.group_request import AskedCards, GroupRequest
from ...ledger.ledger_reader import LedgerReader
from ...pending.candidate import BesideElastic, Needs
from ...stamp import choice_text
from ...verdict import Outcome, Shortfall, Verdict
from ..fit.outside_quota import OutsideQuota
from ..fit.over_quota import over_quota, reason_of
from .group_judgement import judge_group


class EnqueueVerdict(NamedTuple):
    """The verdict on enqueueing a group."""

    verdict: Verdict
    amounts: Charge = ()
    """If it fits: what is to be reserved."""
    needs: Needs | None = None
    """If it lacks room: how much there must be before it is judged again."""


def judge_enqueue(
    ledger: LedgerReader, facts: GroupFacts, request: GroupRequest | None = None
) -> EnqueueVerdict:
    """The verdict on a group's request in its queue. `request`: another one than it writes itself.

    Each card of `A|B` may be any of these, by itself: the group's pods decide later. Exact for
    them, together with all others that have a choice (T3), but for the bound of a search.
    """
    if request is not None and request != facts.request:
        facts = replace(facts, request=request)
    never = judge_group(ledger, facts)
    if not never.fits:
        return EnqueueVerdict(never)
    queue, cards = facts.queue, facts.request.cards
    account = ledger.account(queue) or Account(queue)
    # Pods that ask for cards may be free of these (P6).
    others = () if ledger.free_cpu_memory and cards else facts.request.cpu_memory
    short = _Shortfalls(account, cards, others)
    if not short.of_cards and not short.of_others:
        return EnqueueVerdict(Verdict(Outcome.FITS, queue), _reserved(account, cards, others))
    verdict = over_quota(
        queue,
        reason_of(account, short.of_cards, short.of_others),
        [*short.of_cards, *short.of_others],
        never=False,
        outside=OutsideQuota(ledger, account),
    )
    return EnqueueVerdict(verdict, (), short.needs)


def _reserved(
    account: AccountReader, cards: Sequence[AskedCards], others: Sequence[Amount]
) -> Charge:
    """What is reserved: of a choice, the cards with a quota."""
    amounts: MutableAmounts = dict(others)
    for asked in cards:
        dimension = choice_text([card for card in asked.cards if account.quota.get(card)])
        amounts[dimension] = amounts.get(dimension, 0) + asked.number
    return canonical(amounts)


class _Shortfalls:
    """What a queue is short of for a request, and how much room it would take."""

    def __init__(
        self, account: AccountReader, cards: Sequence[AskedCards], others: Sequence[Amount]
    ) -> None:
        self._account = account
        found = (self._of_other(*one) for one in others)
        self.of_others = [short for short in found if short is not None]
        self.of_cards = self._of_cards(cards)
        self.needs: Needs = {BesideElastic(s.dimension): s.requested for s in self.of_others}
        if self.of_cards:
            self.needs = self._room_of_cards(cards)

    def _held(self, dimension: str) -> int:
        """Allocated and inqueue, without what is elastic."""
        row = self._account.row(dimension)
        return row.charged - row.elastic

    def _of_other(self, dimension: str, amount: int) -> Shortfall | None:
        limit, would_be = self._account.limit(dimension), self._held(dimension) + amount
        if limit is None or would_be <= limit:
            return None
        return Shortfall(dimension, amount, would_be, limit)

    def _of_cards(self, rows: Sequence[AskedCards]) -> list[Shortfall]:
        """The cards of the first row that does not fit beside those before it."""
        account = self._account
        spare = {d: row.elastic for d, row in account.rows.items() if row.elastic and is_card(d)}
        flexible_claims = account.flexible_claims or account.no_flexible_claims()
        placed: list[tuple[AskedCards, int]] = []
        with flexible_claims.beside(spare=spare) as others:
            try:
                for asked in rows:
                    number = others.assignment.place_many(claim_of(asked.cards, 1), asked.number)
                    placed.append((asked, number))
                    if number < asked.number:
                        return self._named(asked, rows, flexible_claims)
                return []
            finally:
                for asked, number in placed:
                    others.assignment.give_back(claim_of(asked.cards, 1), number)

    def _named(
        self, short: AskedCards, rows: Sequence[AskedCards], flexible_claims: FlexibleClaims
    ) -> list[Shortfall]:
        found = []
        for card in short.cards:
            asked = sum(one.number for one in rows if one.cards == (card,))
            asked += short.number if len(short.cards) > 1 else 0
            row = self._account.row(card)
            would_be = row.charged - row.elastic - flexible_claims.shown(card) + asked
            found.append(Shortfall(card, asked, would_be, self._account.quota.get(card, 0)))
        return found

    def _room_of_cards(self, rows: Sequence[AskedCards]) -> Needs:
        """Any amount beyond what is free now may suffice where somebody has a choice."""
        account = self._account
        if account.flexible_claims is None and all(len(asked.cards) == 1 for asked in rows):
            return {BesideElastic(short.dimension): short.requested for short in self.of_cards}
        cards = {card for asked in rows for card in asked.cards}
        if account.flexible_claims is not None:
            cards = account.flexible_claims.reach(tuple(cards))
        free = {c: account.quota.get(c, 0) - self._held(c) for c in sorted(cards)}
        return {BesideElastic(card): now + 1 for card, now in free.items()}

"""May this group be enqueued, before its pods are there? (E1)

Minimum + allocated + inqueue - elastic <= what is allowed, in every dimension that is asked for.
Pure questions to the ledger: nothing is charged here.
"""

from collections.abc import Sequence
from typing import NamedTuple

from .. import messages
from ..accounts.account import Account
from ..accounts.account_reader import AccountReader
from ..amounts import Amount, Charge, MutableAmounts, canonical, is_card
from ..assignment.assignment import Assignment
from ..assignment.claim import claim_of
from ..assignment.flexible_claims import FlexibleClaims
from ..ledger.group_facts import GroupFacts
from ..ledger.group_request import AskedCards, GroupRequest
from ..ledger.ledger_reader import LedgerReader
from ..pending.candidate import BesideElastic, Needs
from ..stamp import choice_text
from ..verdict import Outcome, Shortfall, Verdict
from ..vocabulary import Reason
from .judgement import shut_to
from .over_quota import over_quota, reason_of


class EnqueueVerdict(NamedTuple):
    """The verdict on enqueueing a group."""

    verdict: Verdict
    amounts: Charge = ()
    """If it fits: what is to be reserved."""
    needs: Needs | None = None
    """If it lacks room: how much there must be before it is judged again."""


def asked_for(request: GroupRequest) -> list[Amount]:
    """What a group asks for, as a refusal names it."""
    return [(choice_text(asked.cards), asked.number) for asked in request.cards]


def judge_enqueue(ledger: LedgerReader, facts: GroupFacts) -> EnqueueVerdict:
    """The verdict on a group's request in its queue.

    Each card of `A|B` may be any of these, by itself: the group's pods decide later. Exact for
    them, together with all others that have a choice (T3), but for the bound of a search.
    """
    queue, request = facts.queue, facts.request
    if request.problem:
        text = messages.invalid_request(queue, [], request.problem)
        return EnqueueVerdict(Verdict(Outcome.NEVER, queue, Reason.INVALID_CARD, text))
    account = ledger.account(queue) or Account(queue)
    shut = shut_to(account, queue, facts.namespace, asked_for(request))
    if shut is not None:
        return EnqueueVerdict(shut)
    short = _Shortfalls(account, request)
    if not short.of_cards and not short.of_others:
        return EnqueueVerdict(Verdict(Outcome.FITS, queue), reserved_amounts(account, request))
    verdict = over_quota(
        queue,
        reason_of(account, short.of_cards, short.of_others),
        [*short.of_cards, *short.of_others],
        never=any(s.never for s in short.of_others) or _never(account, request),
        rows=account.cards,
        several=len(request.cards) > 1,
    )
    return EnqueueVerdict(verdict, (), short.needs)


def reserved_amounts(account: AccountReader, request: GroupRequest) -> Charge:
    """What is reserved for a request: of a choice, the cards with a quota."""
    amounts: MutableAmounts = dict(request.cpu_memory)
    for asked in request.cards:
        cards = tuple(card for card in asked.cards if account.quota.get(card)) or asked.cards
        dimension = choice_text(cards)
        amounts[dimension] = amounts.get(dimension, 0) + asked.number
    return canonical(amounts)


class _Shortfalls:
    """What a queue is short of for a request, and how much room it would take."""

    def __init__(self, account: AccountReader, request: GroupRequest) -> None:
        self._account = account
        self.needs: Needs = {}
        self.of_others = [
            short for one in request.cpu_memory if (short := self._of_other(*one)) is not None
        ]
        self.of_cards = self._of_cards(request.cards)
        if self.of_cards:
            self.needs = self._room_of_cards(request.cards)
        else:
            self.needs = {BesideElastic(s.dimension): s.requested for s in self.of_others}

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
        elastic = {card: row.elastic for card, row in account.rows.items() if row.elastic}
        spare = {card: amount for card, amount in elastic.items() if is_card(card)}
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
            held = self._account.row(card).charged - flexible_claims.shown(card)
            would_be = held - self._account.row(card).elastic + asked
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


def _never(account: AccountReader, request: GroupRequest) -> bool:
    """Whether it is proven that the cards would not fit the empty queue either (E5)."""
    empty = Assignment(lambda card: account.quota.get(card, 0))
    with empty.one_question():
        fits = all(
            empty.place_many(claim_of(asked.cards, 1), asked.number) == asked.number
            for asked in request.cards
        )
        return not fits and not empty.cut

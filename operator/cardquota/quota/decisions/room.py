"""How many pods of one kind a queue has room for now (E2, T3)."""

from collections import Counter
from typing import Final

from ..accounts.account_reader import AccountReader
from ..amounts import NO_AMOUNTS, Amounts, MutableAmounts
from ..assignment.claim import claim_of
from ..assignment.on_the_way import NOBODY, OnTheWay
from ..pods.pod_request import PodRequest
from ..vocabulary import CPU, MEMORY

UNLIMITED: Final = 2**62
"""Number of pods if nothing limits them."""


def room_for(
    account: AccountReader,
    request: PodRequest,
    asked: int,
    freed: Amounts = NO_AMOUNTS,
    *,
    on_the_way: OnTheWay = NOBODY,
) -> tuple[int, Amounts]:
    """How many of `asked` equal pods would be let through now, and what they add to the charges.

    As for pods at create: pods `on_the_way` count as let through. Of pods with a choice, as many
    fit as can be assigned together with all others (T3).

    `freed`: what is given back first. Then the result is an estimate: other pods with
    a choice are assumed to stay where the totals count them, or to get their first card.
    """
    beside = on_the_way.at_first() if freed else Counter(on_the_way.amounts)

    def free(dimension: str, amount: int) -> int:
        limit = account.limit(dimension)
        if limit is None or amount <= 0:
            return UNLIMITED
        held = account.row(dimension).charged + beside[dimension] - freed.get(dimension, 0)
        return max(0, limit - held) // amount

    most = min(asked, free(CPU, request.cpu), free(MEMORY, request.memory))
    cards: MutableAmounts = {}
    if request.amount:
        if freed or (account.flexible_claims is None and not on_the_way.claims):
            left = most
            for card in request.cards:
                here = min(left, free(card, request.amount))
                cards[card] = here * request.amount
                left -= here
        else:
            cards = _assigned(account, request, most, on_the_way)
        most = sum(cards.values()) // request.amount
    added = {CPU: most * request.cpu, MEMORY: most * request.memory, **cards}
    return most, {d: added.get(d, 0) - freed.get(d, 0) for d in added.keys() | freed.keys()}


def _assigned(
    account: AccountReader, request: PodRequest, most: int, on_the_way: OnTheWay
) -> MutableAmounts:
    """As many as find a place when others move. By card: how much more is then held."""
    flexible_claims = account.flexible_claims or account.no_flexible_claims()
    with flexible_claims.beside(on_the_way.amounts, on_the_way.claims, on_the_way.spare) as others:
        assignment = others.assignment
        assignment.settle()
        before = {card: assignment.held(card) for card in account.quota}
        claim = claim_of(request.cards, request.amount)
        number = assignment.place_many(claim, most)
        cards = {card: assignment.held(card) - held for card, held in before.items()}
        assignment.give_back(claim, number)
    return cards

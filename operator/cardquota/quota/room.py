"""How many pods of one kind a queue has room for at once (E2, T3)."""

from typing import Final

from .account import Account
from .claim import claim_of
from .pod_request import PodRequest
from .undecided import Undecided
from .vocabulary import CPU, MEMORY

UNLIMITED: Final = 2**62
"""Pods: of nothing that is limited."""


def room_for(account: Account, request: PodRequest, asked: int) -> tuple[int, dict[str, int]]:
    """How many of `asked` equal pods would be let by now, and what those would be charged.

    As for pods that are created: gated Deny pods that have been seen count as let through. Of
    pods with a choice as many fit as can be assigned together with all others (T3).
    """
    rooms = [free_for(account, CPU, request.cpu), free_for(account, MEMORY, request.memory)]
    most = min(asked, *rooms)
    cards: dict[str, int] = {}
    if request.amount:
        undecided = account.undecided(at_create=True)
        if undecided is None:
            cards = _in_turn(account, request, most)
        else:
            cards = _assigned(account, undecided, request, most)
        most = sum(cards.values()) // request.amount
    return most, {CPU: most * request.cpu, MEMORY: most * request.memory, **cards}


def _in_turn(account: Account, request: PodRequest, most: int) -> dict[str, int]:
    """Each of the first card with room: nobody else has a choice, so that is exact."""
    cards: dict[str, int] = {}
    for card in request.cards:
        here = min(most, free_for(account, card, request.amount))
        cards[card] = here * request.amount
        most -= here
    return cards


def _assigned(
    account: Account, undecided: Undecided, request: PodRequest, most: int
) -> dict[str, int]:
    """As many as find a place when others move; by card, how much more is held then."""
    with undecided.beside({}) as assignment:
        assignment.settle()
        before = {card: assignment.held(card) for card in account.quota}
        claim = claim_of(request.cards, request.amount)
        number = assignment.place_many(claim, most)
        cards = {card: assignment.held(card) - held for card, held in before.items()}
        assignment.give_back(claim, number)
    return cards


def free_for(account: Account, dimension: str, amount: int, freed: int = 0) -> int:
    """How many times `amount` still fits a dimension once `freed` is given back, by the totals.

    Without limit a very large number.
    """
    limit = account.limit(dimension)
    if limit is None or amount <= 0:
        return UNLIMITED
    return max(0, limit - account.row(dimension).expected + freed) // amount

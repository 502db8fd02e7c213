"""How many pods of one kind a queue has room for at once (E2, T3)."""

from collections.abc import Mapping
from typing import Final

from .account import Account
from .claim import claim_of
from .pod_request import PodRequest
from .undecided import Undecided
from .vocabulary import CPU, MEMORY

UNLIMITED: Final = 2**62
"""Pods: of nothing that is limited."""
_NOTHING: Final[Mapping[str, int]] = {}


def room_for(
    account: Account, request: PodRequest, asked: int, freed: Mapping[str, int] = _NOTHING
) -> tuple[int, dict[str, int]]:
    """How many of `asked` equal pods would be let by now, and what they add to what is charged.

    As for pods that are created: gated Deny pods that have been seen count as let through. Of
    pods with a choice as many fit as can be assigned together with all others (T3).

    `freed`: what is given back before, by dimension. Then it is an estimate: others with a choice
    of cards are taken to stay where the totals count them.
    """

    def free(dimension: str, amount: int) -> int:
        return _free(account, dimension, amount, freed.get(dimension, 0))

    most = min(asked, free(CPU, request.cpu), free(MEMORY, request.memory))
    cards: dict[str, int] = {}
    if request.amount:
        undecided = account.undecided(at_create=True)
        if undecided is None or freed:
            left = most
            for card in request.cards:
                here = min(left, free(card, request.amount))
                cards[card] = here * request.amount
                left -= here
        else:
            cards = _assigned(account, undecided, request, most)
        most = sum(cards.values()) // request.amount
    added = {CPU: most * request.cpu, MEMORY: most * request.memory, **cards}
    return most, {d: added.get(d, 0) - freed.get(d, 0) for d in added.keys() | freed.keys()}


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


def _free(account: Account, dimension: str, amount: int, freed: int) -> int:
    """How many times `amount` still fits a dimension once `freed` is given back, by the totals.

    Without limit a very large number.
    """
    limit = account.limit(dimension)
    if limit is None or amount <= 0:
        return UNLIMITED
    return max(0, limit - account.row(dimension).expected + freed) // amount

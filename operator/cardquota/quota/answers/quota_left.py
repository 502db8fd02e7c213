"""How much of a card one more pod of a queue could get, by its quota alone."""

from collections.abc import Iterable
from typing import Final

from ..accounts.account_reader import AccountReader
from ..assignment.claim import Claim
from ..steps import Steps

CARDS_AT_A_TIME: Final = 64
"""Cards that one step looks at, where no pod without a node may use several cards."""


def quota_left(account: AccountReader, card: str) -> int:
    """Cards. 0 also where the queue is over its quota. Where pods without a node may use several
    cards, it is what is left if they make room as far as they can (T3): so it is not what the quota
    exceeds the totals by, and not to be had of several cards at once. That costs a search with a
    bound; then more may be left.
    """
    quota, claims = account.quota.get(card, 0), account.flexible_claims
    if claims is None:
        return max(0, quota - account.row(card).charged)
    one = Claim((card,), 1)
    with claims.beside() as others:
        left = others.assignment.place_many(one, quota)
        others.assignment.give_back(one, left)
    return left


def quotas_left(account: AccountReader, cards: Iterable[str]) -> Steps[list[tuple[int, str]]]:
    """How much is left of each of these cards."""
    found: list[tuple[int, str]] = []
    for card in cards:
        found.append((quota_left(account, card), card))
        if account.flexible_claims is not None or len(found) % CARDS_AT_A_TIME == 0:
            yield
    return found

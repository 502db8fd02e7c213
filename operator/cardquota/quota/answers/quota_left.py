"""How much of a card one more pod of a queue could get, by its quota alone."""

from collections.abc import Iterable
from typing import Final

from ..accounts.account_reader import AccountReader
from ..steps import Steps

CARDS_AT_A_TIME: Final = 64
"""Cards that one step looks at."""


def quota_left(account: AccountReader, card: str) -> int:
    """Cards. 0 also where the queue is over its quota."""
    return max(0, account.quota.get(card, 0) - account.row(card).charged)


def quotas_left(account: AccountReader, cards: Iterable[str]) -> Steps[list[tuple[int, str]]]:
    """How much is left of each of these cards."""
    found: list[tuple[int, str]] = []
    for card in cards:
        found.append((quota_left(account, card), card))
        if len(found) % CARDS_AT_A_TIME == 0:
            yield
    return found

"""Whether the empty queue has room for the pods of a Job that start together (E5, V4).

Pure questions to the ledger: nothing is charged here. The costs grow with the number of different
requests, not with the number of pods.
"""

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from math import gcd

from ...accounts.account import AccountReader
from ...ledger.ledger_reader import LedgerReader
from ...pods.pod_request import PodRequest
from ...verdict import Shortfall, Verdict
from ...vocabulary import CPU, MEMORY
from ..over_quota import OutsideQuota, beside_charged, over_quota, reason_of


@dataclass(slots=True)
class JobKind:
    """Pods that ask for the same."""

    request: PodRequest
    sure: int = 0
    """How many start together in any case."""
    rest: int = 0
    """How many there are besides."""


def minimum_fault(
    ledger: LedgerReader, account: AccountReader, kinds: Collection[JobKind], more: int
) -> Verdict | None:
    """Why the pods that start together never fit, with what is charged now. None: it is not proven
    by sums that no choice of pods fits, which Volcano may make.

    `more`: how many of the rest start with the sure ones.
    """
    card_shorts = _of_cards(account, kinds, more)
    other_shorts = list(_of_others(account, kinds, more))
    if not card_shorts and not other_shorts:
        return None
    return over_quota(
        account.name,
        reason_of(account, card_shorts, other_shorts),
        [*card_shorts, *other_shorts],
        never=True,
        outside=OutsideQuota(ledger, account),
        several=True,
    )


def _of_others(
    account: AccountReader, kinds: Collection[JobKind], more: int
) -> Iterator[Shortfall]:
    for dimension, each in ((CPU, _cpu), (MEMORY, _memory)):
        asked = sum(each(one.request) * number for one, number in _cheapest(kinds, more, each))
        limit = account.limit(dimension)
        if limit is not None and asked > limit:
            yield beside_charged(account, dimension, asked)


def _of_cards(account: AccountReader, kinds: Collection[JobKind], more: int) -> list[Shortfall]:
    """What is asked of the first set of cards that has too few for the pods that may use no others,
    as far as amounts like theirs can use them. Looked at are the choices that are made, and all
    cards together.
    """
    with_cards = [kind for kind in kinds if kind.request.amount]
    sets = list(dict.fromkeys(frozenset(kind.request.cards) for kind in with_cards))
    for cards in (*sets, frozenset[str]().union(*sets)):
        inside = [kind for kind in with_cards if cards.issuperset(kind.request.cards)]
        elsewhere = sum(kind.rest for kind in kinds) - sum(kind.rest for kind in inside)
        picked = _cheapest(inside, max(0, more - elsewhere), _amount)
        step = gcd(*(kind.request.amount for kind in inside))
        room = sum(account.quota.get(card, 0) // step * step for card in cards) if step else 0
        if sum(kind.request.amount * number for kind, number in picked) > room:
            return [beside_charged(account, card, _asked(picked, card)) for card in sorted(cards)]
    return []


def _asked(picked: Sequence[tuple[JobKind, int]], card: str) -> int:
    """By the pods that may use this card."""
    return sum(
        kind.request.amount * number for kind, number in picked if card in kind.request.cards
    )


def _cheapest(
    kinds: Collection[JobKind], more: int, each: Callable[[PodRequest], int]
) -> list[tuple[JobKind, int]]:
    """How many of each kind start, if so many more than the sure ones are those that ask least."""
    picked = []
    for kind in sorted(kinds, key=lambda kind: each(kind.request)):
        taken = min(more, kind.rest)
        more -= taken
        picked.append((kind, kind.sure + taken))
    return picked


def _amount(request: PodRequest) -> int:
    return request.amount


def _cpu(request: PodRequest) -> int:
    return request.cpu


def _memory(request: PodRequest) -> int:
    return request.memory

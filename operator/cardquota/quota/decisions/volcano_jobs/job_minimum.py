"""Which pods of a Job start together, and whether the empty queue has room for them (E5, V4).

Pure questions to the ledger: nothing is charged here. No fault is found where any choice of pods
that Volcano may make could start. The costs grow with the number of different requests, not with
the number of pods.
"""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from ...accounts.account_reader import AccountReader
from ...assignment.assignment import Assignment
from ...assignment.claim import claim_of
from ...ledger.ledger_reader import LedgerReader
from ...pods.pod_request import PodRequest
from ...verdict import Shortfall, Verdict
from ...vocabulary import CPU, MEMORY
from ..fit.outside_quota import OutsideQuota
from ..fit.over_quota import over_quota, reason_of
from .job_pods import JobPods


class Starting(NamedTuple):
    """The pods that start together."""

    sure: Sequence[int]
    """Of each task, in their order: how many are among them whatever Volcano chooses."""
    more: int
    """How many pods of any tasks are among them besides."""

    @property
    def number(self) -> int:
        """All of them."""
        return sum(self.sure) + self.more


def starting(job: JobPods) -> Starting:
    """Volcano waits for the minimum of each task unless these are more than the Job's minimum: then
    it waits for any pods. A Job that has no minimum waits for those of its tasks.
    """
    least = [task.least for task in job.tasks]
    minimum = min(job.min_available or sum(least), job.number)
    if minimum == job.number:
        return Starting([task.number for task in job.tasks], 0)
    if sum(least) > minimum:
        return Starting([0] * len(least), minimum)
    return Starting(least, minimum - sum(least))


@dataclass(slots=True)
class JobKind:
    """Pods that ask for the same."""

    request: PodRequest
    sure: int = 0
    """How many start together in any case."""
    rest: int = 0
    """How many there are besides."""


def least_and_most(
    kinds: Sequence[JobKind], more: int, amount: Callable[[PodRequest], int]
) -> tuple[int, int]:
    """What the pods that start together ask for of one thing, if Volcano chooses the cheapest and
    the dearest besides the sure ones.
    """
    sure = sum(kind.sure * amount(kind.request) for kind in kinds)
    chosen = []
    for reverse in (False, True):
        left, total = more, sure
        for kind in sorted(kinds, key=lambda kind: amount(kind.request), reverse=reverse):
            taken = min(left, kind.rest)
            left, total = left - taken, total + taken * amount(kind.request)
        chosen.append(total)
    return chosen[0], chosen[1]


def minimum_fault(
    ledger: LedgerReader, account: AccountReader, kinds: Sequence[JobKind], more: int
) -> Verdict | None:
    """Why the pods that start together never fit, with what is charged now; None: they may.

    `more`: how many of the rest start with the sure ones.
    """
    card_shorts = _of_cards(account, kinds, more)
    others = (
        (CPU, least_and_most(kinds, more, lambda request: request.cpu)[0]),
        (MEMORY, least_and_most(kinds, more, lambda request: request.memory)[0]),
    )
    other_shorts = [
        _short(account, dimension, asked)
        for dimension, asked in others
        if asked and asked > _limit(account, dimension, asked)
    ]
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


def _limit(account: AccountReader, dimension: str, asked: int) -> int:
    limit = account.limit(dimension)
    return asked if limit is None else limit


def _of_cards(account: AccountReader, kinds: Sequence[JobKind], more: int) -> list[Shortfall]:
    with_cards = [kind for kind in kinds if kind.request.amount]
    more -= sum(kind.rest for kind in kinds if not kind.request.amount)
    empty = Assignment(lambda card: account.quota.get(card, 0))
    with empty.one_question():
        for kind in with_cards:
            claim = claim_of(kind.request.cards, kind.request.amount)
            if kind.sure and empty.place_many(claim, kind.sure) < kind.sure:
                return [] if empty.cut else _competing(account, kind, with_cards)
        if more <= 0 or _room_for_more(account, with_cards, empty, more) >= more:
            return []
    picked, left = [], more
    for kind in sorted(with_cards, key=lambda kind: kind.request.amount):
        taken = min(left, kind.rest)
        left -= taken
        picked.append(JobKind(kind.request, kind.sure + taken))
    return _shorts(account, picked)


def _room_for_more(
    account: AccountReader, kinds: Sequence[JobKind], empty: Assignment, most: int
) -> int:
    """At most how many pods of the rest have room beside the sure ones, which have been placed.

    Exact if all ask for the same number of cards. Else as if all cards were one, those that ask for
    the least first: more never fit.
    """
    if len({kind.request.amount for kind in kinds}) == 1:
        placed = 0
        for kind in kinds:
            claim = claim_of(kind.request.cards, kind.request.amount)
            placed += empty.place_many(claim, min(kind.rest, most - placed))
        return placed
    cards = {card for kind in kinds for card in kind.request.cards}
    room = sum(account.quota.get(card, 0) for card in cards)
    room -= sum(kind.sure * kind.request.amount for kind in kinds)
    found = 0
    for kind in sorted(kinds, key=lambda kind: kind.request.amount):
        taken = min(kind.rest, room // kind.request.amount)
        found, room = found + taken, room - taken * kind.request.amount
    return found


def _competing(account: AccountReader, short: JobKind, kinds: Sequence[JobKind]) -> list[Shortfall]:
    """The cards of one kind, and of those that could use one of them."""
    rivals = [kind for kind in kinds if not {*short.request.cards}.isdisjoint(kind.request.cards)]
    return _shorts(account, [short, *(kind for kind in rivals if kind is not short)])


def _shorts(account: AccountReader, kinds: Sequence[JobKind]) -> list[Shortfall]:
    """What the sure pods of these kinds ask for, by card: of a choice, of each."""
    asked = Counter[str]()
    for kind in kinds:
        if kind.sure:
            asked.update(dict.fromkeys(kind.request.cards, kind.sure * kind.request.amount))
    return [_short(account, card, number) for card, number in asked.items()]


def _short(account: AccountReader, dimension: str, asked: int) -> Shortfall:
    would_be = account.row(dimension).charged + asked
    return Shortfall(dimension, asked, would_be, account.limit(dimension) or 0)

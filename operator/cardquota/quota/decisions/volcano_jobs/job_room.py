"""How many pods of a Job a queue has room for now (E2, T3, V4)."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from ...accounts.account_reader import AccountReader
from ...amounts import is_card
from ...assignment.assignment import Assignment
from ...assignment.claim import Claim, claim_of
from ...assignment.on_the_way import OnTheWay
from ...pods.pod_request import PodRequest
from ...verdict import Shortfall


@dataclass(slots=True)
class PodsToCome:
    """Pods of a Job that ask for the same, and hold nothing yet."""

    request: PodRequest
    first: int = 0
    """How many of them start together with all other first ones, or not at all."""
    rest: int = 0
    """How many follow one by one."""


class JobRoom(NamedTuple):
    """How many pods would be let through now."""

    number: int
    shorts: tuple[Shortfall, ...] = ()
    """What the first that would not is short of. Empty: all would be, or that is not known."""


def room_for_job(
    account: AccountReader, pods: Sequence[PodsToCome], on_the_way: OnTheWay
) -> JobRoom:
    """Exact for pods with a choice of cards, together with all others (T3); pods `on_the_way` count
    as let through. Costs by the number of different requests.
    """
    flexible_claims = account.flexible_claims or account.no_flexible_claims()
    with flexible_claims.beside(on_the_way.amounts, on_the_way.claims, on_the_way.spare) as others:
        trial = _Trial(account, others.assignment, on_the_way)
        try:
            return trial.run(pods)
        finally:
            trial.give_back()


class _Trial:
    def __init__(
        self, account: AccountReader, assignment: Assignment, on_the_way: OnTheWay
    ) -> None:
        self._account = account
        self._assignment = assignment
        assignment.settle()
        self._before = {card: assignment.held(card) for card in account.quota}
        self._placed: list[tuple[Claim, int]] = []
        self._way = on_the_way.at_first()
        self._others = Counter[str]()
        """Cpu and memory of the pods that were placed."""

    def run(self, pods: Sequence[PodsToCome]) -> JobRoom:
        number = 0
        for one in pods:
            placed = self._place(one.request, one.first, search=True)
            if placed < one.first:
                self.give_back()
                return JobRoom(0, self._short_together(one.request, pods))
            number += placed
        shorts: tuple[Shortfall, ...] = ()
        for one in pods:
            placed = self._place(one.request, one.rest, search=False)
            if placed < one.rest and not shorts:
                shorts = self._short(one.request, dict(self._asked(one.request)))
            number += placed
        return JobRoom(number, shorts)

    def give_back(self) -> None:
        for claim, number in self._placed:
            self._assignment.give_back(claim, number)
        self._placed.clear()
        self._others.clear()

    def _place(self, request: PodRequest, most: int, *, search: bool) -> int:
        number = most
        for dimension, amount in request.cpu_memory:
            limit = self._account.limit(dimension)
            if limit is not None:
                free = limit - self._charged(dimension)
                number = min(number, max(0, free // amount))
        if request.amount and number:
            claim = claim_of(request.cards, request.amount)
            number = self._assignment.place_many(claim, number, search=search)
            self._placed.append((claim, number))
        for dimension, amount in request.cpu_memory:
            self._others[dimension] += amount * number
        return number

    def _charged(self, dimension: str) -> int:
        """What is held of it, with the pods that were placed."""
        charged = self._account.row(dimension).charged + self._way[dimension]
        if is_card(dimension):
            before = self._before.get(dimension, 0)
            return charged + self._assignment.held(dimension) - before
        return charged + self._others[dimension]

    @staticmethod
    def _asked(request: PodRequest) -> list[tuple[str, int]]:
        return [*((card, request.amount) for card in request.cards), *request.cpu_memory]

    def _short_together(
        self, short: PodRequest, pods: Sequence[PodsToCome]
    ) -> tuple[Shortfall, ...]:
        """What all first pods ask for of whatever one of them is short of."""
        asked = Counter[str]()
        for one in pods:
            for dimension, amount in self._asked(one.request):
                asked[dimension] += amount * one.first
        return self._short(short, asked)

    def _short(self, request: PodRequest, asked: dict[str, int]) -> tuple[Shortfall, ...]:
        found = []
        for dimension, _ in self._asked(request):
            limit, amount = self._account.limit(dimension), asked[dimension]
            would_be = self._charged(dimension) + amount
            if limit is not None and would_be > limit:
                leaving = self._account.row(dimension).leaving
                found.append(Shortfall(dimension, amount, would_be, limit, leaving))
        return tuple(found)

"""What is set aside for those who have waited too long, while others are judged behind them (E6).

For those behind it counts as if the one who waits had been let through. So they may take what he
does not need: another card, or what is free beyond his need. Nothing is charged, written or shown.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Final

from ..accounts.account import Account
from ..amounts import Charge, MutableAmounts, canonical
from ..ledger.groups.pod_group_state import PodGroupState
from ..ledger.ledger import Ledger
from ..pending.candidate import Candidate
from ..pending.long_waits import Asked
from ..pods.pod_request import CardChoice, PodRequest
from .release_judge import ReleaseJudge

MOST_SET_ASIDE: Final = 64
"""Candidates of one queue for which something is set aside: the first in the order of release. Each
is the oldest of those that want the same cards with the same priority."""
MOST_CLAIMS: Final = 16
"""Kinds of claims with a choice of cards after which nothing is set aside for anybody else: they
are laid for each judgement."""


class SetAside:
    """What is set aside in one queue so far, in one pass."""

    def __init__(self, ledger: Ledger, account: Account, judge: ReleaseJudge) -> None:
        self._ledger = ledger
        self._account = account
        self._judge = judge
        self.holders: list[tuple[Candidate, Asked]] = []
        """For whom, in the order of release."""
        self._long_waits = account.pending.inadmissible.long_waits
        self._claims: set[CardChoice] = set()
        self._beyond: dict[Candidate, Asked] = {}
        """What they ask for beyond what is reserved for them."""

    @property
    def full(self) -> bool:
        """Whether nothing is set aside for anybody else."""
        return len(self.holders) >= MOST_SET_ASIDE or len(self._claims) >= MOST_CLAIMS

    def add(self, candidate: Candidate) -> tuple[Asked, bool]:
        """Set aside what a candidate asks for beyond what is reserved for it. Returns that, and
        whether it asked for something else before.
        """
        asked, changed = self._long_waits.asked(candidate), False
        if asked is None:
            asked = self._asked(candidate)
            changed = self._long_waits.keep(candidate, asked)
        self._claims.update(claim for claim, _ in asked[1])
        self.holders.append((candidate, asked))
        self._beyond[candidate] = self._beyond_rest(candidate, asked)
        return asked, changed

    def before(self, candidate: Candidate | None) -> list[tuple[Candidate, Asked]]:
        """Those that still wait and come before a candidate, or all. In one pass they may start, or
        get another place, after something was set aside for them.
        """
        return [
            (holder, asked)
            for holder, asked in self.holders
            if holder in self._long_waits
            and (candidate is None or holder.indexed_key < candidate.indexed_key)
        ]

    @contextmanager
    def laid(self, holders: Sequence[tuple[Candidate, Asked]]) -> Iterator[None]:
        """While somebody is judged behind these: as if all that were reserved, of a choice of cards
        the first. Afterwards all is as before.
        """
        if not holders:
            yield
            return
        amounts: MutableAmounts = {}
        for holder, _ in holders:
            # What is reserved stays so until the gang starts: nobody else may have it (I1).
            without_choice, with_choice = self._beyond[holder]
            for dimension, amount in without_choice:
                amounts[dimension] = amounts.get(dimension, 0) + amount
            for claim, number in with_choice:
                card = claim.cards[0]
                amounts[card] = amounts.get(card, 0) + claim.amount * number
        with self._account.as_if_reserved(tuple(amounts.items())):
            yield

    def _beyond_rest(self, holder: Candidate, asked: Asked) -> Asked:
        if holder.whole is None:
            return asked
        rest = self._ledger.groups[holder.whole.key].rest_in(self._account.name)
        return _beyond(asked, rest) if rest else asked

    def _asked(self, candidate: Candidate) -> Asked:
        if candidate.enqueues is not None:
            return self._asked_by_group(self._ledger.groups[candidate.enqueues.key])
        if candidate.whole is not None:
            whole = self._ledger.groups[candidate.whole.key]
            members = self._judge.starting(candidate, whole)
        else:
            members = [self._ledger.pods[candidate.sort_key.uid]]
        # By identity: pods with the same text share one request, and there may be thousands.
        requests = [record.request for record in members if record.request is not None]
        kinds = {id(request): request for request in requests}
        numbers = Counter(map(id, requests))
        amounts: MutableAmounts = {}
        claims = Counter[CardChoice]()
        for key, request in kinds.items():
            _add_request(request, numbers[key], amounts, claims)
        gang = candidate.classes[0].gang
        group = self._ledger.groups.get(gang.key) if gang is not None else None
        if group is not None and group.reservation is not None and not group.to_be_replaced:
            amounts, claims = self._beyond_reserved(group, amounts, claims)
        return canonical(amounts), tuple(claims.items())

    def _beyond_reserved(
        self, group: PodGroupState, amounts: MutableAmounts, claims: Counter[CardChoice]
    ) -> tuple[MutableAmounts, Counter[CardChoice]]:
        """Less what is reserved for members of a started gang: they use that up. Of a choice only
        what is reserved of each card, since it is not known which they will get.
        """
        queue, left = self._account.name, Counter[CardChoice]()
        amounts = {d: n - group.covers(queue, d, n) for d, n in amounts.items()}
        for claim, number in claims.items():
            covered = min(group.covers(queue, card, claim.amount) for card in claim.cards)
            left[CardChoice(claim.cards, claim.amount - covered)] += number
        return amounts, Counter({claim: n for claim, n in left.items() if claim.amount})

    def _asked_by_group(self, group: PodGroupState) -> Asked:
        amounts: MutableAmounts = {}
        claims = Counter[CardChoice]()
        request = group.request
        for cards, number in request.cards:
            if len(cards) == 1:
                amounts[cards[0]] = amounts.get(cards[0], 0) + number
            else:
                claims[CardChoice(cards, 1)] += number
        # Pods that ask for cards may be free of these (P6).
        amounts.update(() if self._ledger.free_cpu_memory and request.cards else request.cpu_memory)
        return canonical(amounts), tuple(claims.items())


def _beyond(asked: Asked, reserved: Charge) -> Asked:
    """What a gang asks for beyond what is reserved for it: that is replaced when it starts (E2)."""
    left = dict(reserved)

    def use(amount: int, cards: Sequence[str]) -> int:
        """How much of it is not reserved. Takes what is from what is left."""
        for dimension in cards:
            used = min(amount, left.get(dimension, 0))
            if used:
                left[dimension] -= used
                amount -= used
        return amount

    without_choice, with_choice = asked
    amounts = [(d, n) for d, asked_for in without_choice if (n := use(asked_for, (d,)))]
    claims = Counter[CardChoice]()
    for claim, number in with_choice:
        missing = use(claim.amount * number, claim.cards)
        claims[claim] += -(-missing // claim.amount)
    return tuple(amounts), tuple((claim, n) for claim, n in claims.items() if n)


def _add_request(
    request: PodRequest, number: int, amounts: MutableAmounts, claims: Counter[CardChoice]
) -> None:
    """Add what so many equal pods ask for."""
    if request.amount and len(request.cards) > 1:
        claims[CardChoice(request.cards, request.amount)] += number
    elif request.amount and request.cards:
        card = request.cards[0]
        amounts[card] = amounts.get(card, 0) + request.amount * number
    for dimension, amount in request.cpu_memory:
        amounts[dimension] = amounts.get(dimension, 0) + amount * number

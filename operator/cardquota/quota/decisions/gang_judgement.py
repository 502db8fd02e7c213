"""May this gang start? Its members together, or none (E2, T3).

Pure questions to the ledger: nothing is charged here.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import islice
from math import gcd
from typing import NamedTuple

from .. import messages
from ..accounts.account import Account
from ..accounts.account_reader import AccountReader
from ..amounts import Amounts, Charge, MutableAmounts, is_card
from ..assignment.assignment import Assignment
from ..assignment.claim import Claim, claim_of
from ..assignment.flexible_claims import FlexibleClaims
from ..ledger.ledger_reader import LedgerReader
from ..ledger.pod_group_state import set_aside
from ..limits import GANG_KINDS
from ..pods.pod_record import PodRecord
from ..pods.pod_request import PodRequest
from ..selectors.taints import Tolerations
from ..verdict import Outcome, Shortfall, Verdict
from ..vocabulary import Reason
from .availabilities import Availabilities
from .judgement import judge
from .over_quota import over_quota

Served = list[tuple[Charge, int]]
"""Cards, and how many pods in a row get them."""


class Kind(NamedTuple):
    """Pods that are equal in all that is judged."""

    first: PodRecord
    places: list[int]
    """The place of each among all that are judged together, in order."""

    @property
    def number(self) -> int:
        """How many pods there are."""
        return len(self.places)

    @property
    def cards(self) -> tuple[str, ...]:
        """The cards of which each pod may use one."""
        request = self.first.request
        return request.cards if request is not None and request.amount else ()

    @property
    def amount(self) -> int:
        """How many cards each pod asks for."""
        return self.first.request.amount if self.first.request else 0

    @property
    def claim(self) -> Claim:
        """The claim of each pod. Not for pods that ask for no card."""
        return claim_of(self.cards, self.amount)


_KindKey = tuple[int, bytes, int]
"""The identity of a class; and, of pods with a choice of cards alone, the selector and the number
of the tolerations.
"""


def kinds_of(members: Sequence[PodRecord], most: int) -> list[Kind]:
    """Members by kind, in the order of the first of each. Stops after `most` + 1 kinds.

    Pods of one class are equal, except for the nodes that pods with a choice of cards may use.
    """
    found: dict[_KindKey, Kind] = {}
    same: dict[Tolerations, int] = {}
    """By tolerations: one number for all that are equal."""
    for place, record in enumerate(members):
        request, facts = record.request, record.facts
        pod_class = id(record if record.class_key is None else record.class_key)
        if request is not None and len(request.cards) > 1:
            key = pod_class, facts.selector, same.setdefault(facts.tolerations, len(same))
        else:
            key = pod_class, b"", 0
        kind = found.get(key)
        if kind is None:
            kind = found[key] = Kind(record, [])
            if len(found) > most:
                break
        kind.places.append(place)
    return list(found.values())


class GangTrial:
    """The pods that go together, so far: what they ask for, and which cards they get."""

    def __init__(self, ledger: LedgerReader) -> None:
        self._ledger = ledger
        self.beside: MutableAmounts = {}
        """What all of them ask for together."""
        self.availabilities = Availabilities(ledger)

    def judge_each(self, kind: Kind) -> tuple[Verdict, Served]:
        """The verdict on a kind with a choice of cards, beside the pods so far, as if its pods came
        one after the other: of the first that does not fit, else that all fit. Also their cards.

        Costs by how often later pods get another card than the ones before.
        """
        served: Served = []
        record, left = kind.first, kind.number
        availability_of = self.availabilities.of(record)
        while True:
            verdict = judge(
                self._ledger,
                record.facts,
                record.queue,
                beside=self.beside,
                availability_of=availability_of,
            )
            if not verdict.fits:
                return verdict, []
            number = self._as_many(record, verdict.cards, left)
            self._add(record, verdict.cards, number)
            served.append((verdict.cards, number))
            left -= number
            if not left:
                return verdict, served

    def judge_alike(self, record: PodRecord, number: int, *, only: str | None = None) -> Verdict:
        """The verdict on `number` more pods of one kind. They have no choice of cards, or each gets
        the card `only`.
        """
        beside, request = dict(self.beside), record.request
        if request is not None:
            cards = request.cards if only is None else (only,)
            asked = [(card, request.amount) for card in cards]
            for dimension, amount in (*asked, *request.cpu_memory):
                beside[dimension] = beside.get(dimension, 0) + (number - 1) * amount
        verdict = judge(self._ledger, record.facts, record.queue, beside=beside, only=only)
        if verdict.fits:
            self._add(record, verdict.cards, number)
        return verdict

    def _as_many(self, record: PodRecord, cards: Charge, most: int) -> int:
        """How many equal pods, at most `most`, get the same cards as the first, which fits.

        A card that is short stays short, and a node without a free card gets none.
        """
        account, request = self._ledger.account(record.queue), record.request
        if account is None or request is None or most == 1:
            return 1
        number = most
        for dimension, amount in request.cpu_memory:
            limit = account.limit(dimension)
            if limit is not None:
                free = limit - account.row(dimension).charged - self.beside.get(dimension, 0)
                number = min(number, free // amount)
        for card, amount in cards:
            if account.flexible_claims is None:
                held = account.row(card).charged + self.beside.get(card, 0)
                number = min(number, (account.quota.get(card, 0) - held) // amount)
            else:
                with account.flexible_claims.beside(self.beside) as others:
                    one = Claim((card,), amount)
                    number = others.assignment.place_many(one, number)
                    others.assignment.give_back(one, number)
            if number > 1:
                number = self.availabilities.as_many(record, card, amount, number)
        return max(1, number)

    def _add(self, record: PodRecord, cards: Charge, number: int) -> None:
        others = record.request.cpu_memory if record.request else ()
        for dimension, amount in (*cards, *others):
            self.beside[dimension] = self.beside.get(dimension, 0) + amount * number
        for card, amount in cards:
            self.availabilities.go(card, amount, number)


def judge_gang(ledger: LedgerReader, members: Sequence[PodRecord]) -> tuple[Verdict, list[Charge]]:
    """The verdict on starting a gang: these members together, or none (E2).

    Also the cards that each member would be charged, in the same order; empty if they do not all
    fit. Kind by kind, each member gets the best of its cards that is left, unless a later member
    needs that very card (T3).

    Costs by the number of kinds of members, and with a choice of cards by the nodes that they pick,
    not by the number of members. All searches together have one bound of steps.
    """
    kinds = kinds_of(members, GANG_KINDS.most)
    queue = members[0].queue
    if len(kinds) > GANG_KINDS.most:
        text = messages.gang_too_unlike(members[0].facts.group, len(members), GANG_KINDS.most)
        return Verdict(Outcome.NEVER, queue, Reason.INVALID_CARD, text), []
    account = ledger.account(queue) or Account(queue)
    group = ledger.groups.get(members[0].facts.group)
    with set_aside(group, account):
        flexible_claims = account.flexible_claims or account.no_flexible_claims()
        with flexible_claims.one_question() as steps_left:
            verdict, served = _judge_kinds(ledger, kinds, flexible_claims)
            if not verdict.fits:
                return _of_gang(account, verdict, kinds, steps_left()), []
    disagreeing = _disagreeing(kinds, served)
    if disagreeing is not None:
        return disagreeing, []
    chosen: list[Charge] = [()] * len(members)
    for kind, found in zip(kinds, served, strict=True):
        places = iter(kind.places)
        for cards, number in found:
            for place in islice(places, number):
                chosen[place] = cards
    return Verdict(Outcome.FITS, queue), chosen


def _judge_kinds(
    ledger: LedgerReader, kinds: Sequence[Kind], flexible_claims: FlexibleClaims
) -> tuple[Verdict, list[Served]]:
    """The verdict on the first kind that does not fit beside those before it, else that all fit,
    and the cards of each kind.
    """
    trial, served = GangTrial(ledger), list[Served]()
    verdict = Verdict(Outcome.FITS)
    for kind in kinds:
        if len(kind.cards) > 1:
            verdict, found = trial.judge_each(kind)
        else:
            verdict = trial.judge_alike(kind.first, kind.number)
            found = [(verdict.cards, kind.number)]
        if not verdict.fits:
            choice = any(len(kind.cards) > 1 for kind in kinds)
            assigned = _assigned(ledger, flexible_claims, kinds) if choice else None
            if assigned is None or not verdict.shortfalls:
                return verdict, []
            return Verdict(Outcome.FITS), assigned
        served.append(found)
    return verdict, served


def _disagreeing(kinds: Sequence[Kind], served: Sequence[Served]) -> Verdict | None:
    """Why members that ask for one card by two resource names cannot start together (D7).

    For a known card each member was judged by itself. For a card that no node has shown, the first
    member's resource name is the card's.
    """
    behind: dict[str, str] = {}
    for kind, found in zip(kinds, served, strict=True):
        asked = kind.first.request.resource if kind.first.request else ""
        for card, amount in (one for cards, _ in found for one in cards):
            first = behind.setdefault(card, asked)
            if first != asked:
                queue = kind.first.queue
                wrong = messages.other_resource(card, first, asked)
                text = messages.invalid_request(queue, [(card, amount)], wrong)
                return Verdict(Outcome.NEVER, queue, Reason.INVALID_CARD, text)
    return None


def _assigned(
    ledger: LedgerReader, flexible_claims: FlexibleClaims, kinds: Sequence[Kind]
) -> list[Served] | None:
    """A card for each, found for all at once. None if no way was found to serve them all."""
    with flexible_claims.beside() as others:
        served = _cards_of(ledger, kinds, others.assignment)
    # All other checks are made with these very cards.
    trial = GangTrial(ledger)
    for kind, found in zip(kinds, served or (), strict=False):
        for cards, number in found:
            only = cards[0][0] if cards else None
            if not trial.judge_alike(kind.first, number, only=only).fits:
                return None
    return served


def _cards_of(
    ledger: LedgerReader, kinds: Sequence[Kind], assignment: Assignment
) -> list[Served] | None:
    """The cards of each kind. Nothing stays assigned. None if they cannot all be served."""
    placed, availabilities = Counter[Claim](), Availabilities(ledger)
    with_cards = [kind for kind in kinds if kind.amount]
    try:
        for kind in with_cards:
            number = assignment.place_many(kind.claim, kind.number)
            placed[kind.claim] += number
            if number < kind.number:
                return None
        return [
            [*_fix(kind, assignment, availabilities, placed)]
            if kind.amount
            else [((), kind.number)]
            for kind in kinds
        ]
    finally:
        for claim, number in placed.items():
            assignment.give_back(claim, number)


def _fix(
    kind: Kind, assignment: Assignment, availabilities: Availabilities, placed: Counter[Claim]
) -> Iterator[tuple[Charge, int]]:
    """Fix the best card for each placed pod of a kind that all other claims leave (E7)."""
    cards, amount, left = kind.cards, kind.amount, kind.number
    availability_of = availabilities.of(kind.first)
    while left:
        order = sorted(cards, key=lambda card: -availability_of(card)) if availability_of else cards
        for card in order:
            most = availabilities.as_many(kind.first, card, amount, left)
            number = assignment.fix(kind.claim, card, most)
            if number:
                break
        else:
            raise AssertionError(f"{left} of {kind.claim} have a place, and none of their cards")
        placed[kind.claim] -= number
        placed[Claim((card,), amount)] += number
        availabilities.go(card, amount, number)
        yield ((card, amount),), number
        left -= number


def _of_gang(
    account: AccountReader, verdict: Verdict, kinds: Sequence[Kind], steps_left: int
) -> Verdict:
    """The failing member's verdict with the amounts of the whole gang."""
    if not verdict.shortfalls:
        return verdict
    shorts = []
    for short in verdict.shortfalls:
        asked = sum(_asks(kind.first.request, short.dimension) * kind.number for kind in kinds)
        charged = account.row(short.dimension).charged
        if account.flexible_claims is not None and is_card(short.dimension):
            charged = account.flexible_claims.held(short.dimension)
        shorts.append(Shortfall(short.dimension, asked, charged + asked, short.capability))
    never = any(short.never for short in shorts if not is_card(short.dimension))
    return over_quota(
        verdict.queue,
        verdict.reason,
        shorts,
        never=never or _never(account.quota, kinds, steps_left),
        rows=account.cards,
        several=any(len(kind.cards) > 1 for kind in kinds),
    )


def _never(quota: Amounts, kinds: Sequence[Kind], steps: int) -> bool:
    """Whether it is proven that their cards would not fit the empty queue either (E5).

    By plain sums, or by a search that ran to its end: what a shorter search left out may fit.
    """
    with_cards = [kind for kind in kinds if kind.amount]
    if _asks_too_much(quota, with_cards):
        return True
    empty = Assignment(lambda card: quota.get(card, 0), steps)
    with empty.one_question():
        fits = all(empty.place_many(kind.claim, kind.number) == kind.number for kind in with_cards)
        return not fits and not empty.cut


def _asks_too_much(quota: Amounts, kinds: Sequence[Kind]) -> bool:
    """Whether some of these ask for more than all their cards have together, as far as amounts like
    theirs can use them.
    """
    by_cards: dict[frozenset[str], list[Kind]] = {}
    for kind in kinds:
        by_cards.setdefault(frozenset(kind.cards), []).append(kind)
    for cards in (*by_cards, frozenset[str]().union(*by_cards)):
        inside = [kind for own, some in by_cards.items() if own <= cards for kind in some]
        step = gcd(*(kind.amount for kind in inside))
        most = sum(quota.get(card, 0) // step * step for card in cards)
        largest = max((quota.get(card, 0) for card in cards), default=0)
        if sum(kind.amount * kind.number for kind in inside) > most:
            return True
        if any(kind.amount > largest for kind in by_cards.get(cards, ())):
            return True
    return False


def _asks(request: PodRequest | None, dimension: str) -> int:
    if request is None:
        return 0
    if dimension in request.cards:
        return request.amount
    return dict(request.cpu_memory).get(dimension, 0)

"""May this gang start? Its members together, or none (E2, T3).

Pure questions to the ledger: nothing is charged here.
"""

from collections import Counter, deque
from collections.abc import Iterable, Mapping, Sequence
from itertools import islice
from math import gcd

from ...accounts.account import Account
from ...amounts import Amounts, Charge, is_card
from ...assignment.assignment import Assignment
from ...assignment.claim import Claim
from ...assignment.flexible_claims import FlexibleClaims
from ...ledger.groups.pod_group_state import set_aside
from ...ledger.ledger_reader import LedgerReader
from ...limits import GANG_KINDS
from ...messages import request_messages
from ...messages.groups import gang_messages
from ...pods.pod_record import PodRecord
from ...verdict import Outcome, Shortfall, Verdict
from ...vocabulary import Reason
from ..fit.availabilities import Availabilities
from ..fit.outside_quota import OutsideQuota
from ..fit.over_quota import over_quota
from ..fit.quota_check import Availability
from .gang_trial import GangTrial, Served, cards_for_all
from .member_kinds import Kind, kinds_of


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
        text = gang_messages.gang_too_unlike(members[0].facts.group, len(members), GANG_KINDS.most)
        return Verdict(Outcome.NEVER, queue, Reason.INVALID_CARD, text), []
    account = ledger.account(queue) or Account(queue)
    group = ledger.groups.get(members[0].facts.group)
    with set_aside(group, account):
        flexible_claims = account.flexible_claims or account.no_flexible_claims()
        with flexible_claims.one_question() as steps_left:
            verdict, served = _judge_kinds(ledger, kinds, flexible_claims)
            if not verdict.fits:
                soon = group is None or not group.loses_members
                outside = OutsideQuota(ledger, account)
                return _of_gang(outside, verdict, kinds, steps_left(), soon=soon), []
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
            return Verdict(Outcome.FITS), _on_one_card_each(ledger, kinds, assigned)
        served.append(found)
    return verdict, _on_one_card_each(ledger, kinds, served)


def _on_one_card_each(
    ledger: LedgerReader, kinds: Sequence[Kind], served: Sequence[Served]
) -> list[Served]:
    """Another way to serve them, each kind on one card, if some are on several: a kind that came
    first may have taken what another one needs for all of its pods (E7). Those that ask for most go
    first. As they are served already if that is no need, or no way was found.
    """
    if not any(map(_is_mixed, served)):
        return list(served)
    trial, found_by_place = GangTrial(ledger), dict[int, Served]()

    def place_of(place: int) -> tuple[bool, int]:
        kind = kinds[place]
        return len(kind.cards) > 1, -kind.number * kind.amount

    for place in sorted(range(len(kinds)), key=place_of):
        found = trial.judge_on_one_card(kinds[place])
        if found is None:
            return list(served)
        found_by_place[place] = found
    return [found_by_place[place] for place in range(len(kinds))]


def _is_mixed(served: Served) -> bool:
    """Whether they are on more than one card."""
    return len({card for cards, _ in served for card, _ in cards}) > 1


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
                wrong = request_messages.other_resource(card, first, asked)
                text = request_messages.invalid_request(queue, [(card, amount)], wrong)
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
            _fix(_Fixing(kind, assignment, availabilities, placed))
            if kind.amount
            else [((), kind.number)]
            for kind in kinds
        ]
    finally:
        for claim, number in placed.items():
            assignment.give_back(claim, number)


def _fix(fixing: "_Fixing") -> Served:
    """Fix the best cards for the placed pods of a kind that all other claims leave: one for all of
    them where there is one, as `GangTrial.judge_each` does (E7).
    """
    if fixing.kind.number == 1 or len(fixing.kind.cards) == 1:
        return fixing.one_by_one()
    if fixing.on_one_card(at_once=True):
        return fixing.served
    served = fixing.one_by_one()
    if len(served) > 1 and not fixing.at_once:
        fixing.undo()
        if not fixing.on_one_card(at_once=False):
            fixing.one_by_one()
    return fixing.served


class _Fixing:
    """The cards that are fixed for the pods of one kind, so far."""

    def __init__(
        self,
        kind: Kind,
        assignment: Assignment,
        availabilities: Availabilities,
        placed: Counter[Claim],
    ) -> None:
        self.kind = kind
        self._claim = kind.claim
        self._assignment = assignment
        self._availabilities = availabilities
        self._placed = placed
        self.served: Served = []
        self.at_once = True
        """Whether nodes have the cards of all of them free."""

    def on_one_card(self, *, at_once: bool) -> bool:
        """Fix one card for all. Returns whether one was found; else nothing is fixed."""
        kind, assignment, claim = self.kind, self._assignment, self._claim
        all_of_them = kind.number
        # That costs least: nodes are looked at for what is left.
        able = [card for card in kind.cards if assignment.fixable(claim, card) >= all_of_them]
        for card in cards_for_all(kind, self._availabilities, able, at_once=at_once):
            number = assignment.fix(claim, card, all_of_them)
            self._took(card, number)
            if number == all_of_them:
                return True
            self.undo()
        return False

    def one_by_one(self) -> Served:
        """Fix the best card that is left for each.

        Costs by its cards, and by how often the next pods get another one.
        """
        kind, availabilities, assignment = self.kind, self._availabilities, self._assignment
        claim = self._claim
        availability_of = availabilities.of(kind.first)
        left, self.at_once = kind.number, True
        known = {card: availability_of(card) for card in kind.cards} if availability_of else {}
        cards = deque(_best_first(kind.cards, known))
        while left:
            while cards and not assignment.fixable(claim, cards[0]):
                cards.popleft()  # nor is it later on
            for card in cards:
                fixable = assignment.fixable(claim, card)
                most = availabilities.as_many(kind.first, card, kind.amount, min(left, fixable))
                number = assignment.fix(claim, card, most) if most else 0
                if number:
                    break
            else:
                raise AssertionError(f"{left} of {claim} have a place, and none of their cards")
            self.at_once = self.at_once and known.get(card, Availability.NOW) is Availability.NOW
            self._took(card, number)
            left -= number
            if availability_of and availability_of(card) is not known[card]:
                # Pods that go change it for their card alone.
                known[card], left_over = availability_of(card), {*cards}
                in_order = (one for one in kind.cards if one in left_over)
                cards = deque(_best_first(in_order, known))
        return self.served

    def undo(self) -> None:
        """Take back what is fixed: the pods have places again, and keep them until fixed anew."""
        for cards, number in self.served:
            ((card, amount),) = cards
            self._assignment.unfix(self._claim, card, number)
            self._placed[Claim((card,), amount)] -= number
            self._placed[self._claim] += number
            self._availabilities.go(card, amount, -number)
        self.served = []

    def _took(self, card: str, number: int) -> None:
        if number:
            kind = self.kind
            self._placed[self._claim] -= number
            self._placed[Claim((card,), kind.amount)] += number
            self._availabilities.go(card, kind.amount, number)
            self.served.append((((card, kind.amount),), number))


def _best_first(cards: Iterable[str], known: Mapping[str, Availability]) -> list[str]:
    """In their order, those that are available sooner first."""
    return sorted(cards, key=lambda card: -known[card]) if known else list(cards)


def _of_gang(
    outside: OutsideQuota,
    verdict: Verdict,
    kinds: Sequence[Kind],
    steps_left: int,
    *,
    soon: bool,
) -> Verdict:
    """The failing member's verdict with the amounts of the whole gang.

    `soon`: the gang asks for the same once pods that are being deleted are gone. These are told of
    only if all members are of one kind without a choice: then what falls short is all that the
    gang falls short of.
    """
    if not verdict.shortfalls:
        return verdict
    account = outside.account
    soon = soon and len(kinds) == 1 and len(kinds[0].cards) < 2
    shorts, asked_in_all = [], _asked_in_all(kinds)
    for short in verdict.shortfalls:
        asked = asked_in_all[short.dimension]
        charged = account.row(short.dimension).charged
        if account.flexible_claims is not None and is_card(short.dimension):
            charged = account.flexible_claims.held(short.dimension)
        leaving = short.leaving if soon else 0
        shorts.append(Shortfall(short.dimension, asked, charged + asked, short.capability, leaving))
    never = any(short.never for short in shorts if not is_card(short.dimension))
    return over_quota(
        verdict.queue,
        verdict.reason,
        shorts,
        never=never or _never(account.quota, kinds, steps_left),
        outside=outside,
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


def _asked_in_all(kinds: Sequence[Kind]) -> Counter[str]:
    """What all of them ask for together, of a choice of cards each of them."""
    asked = Counter[str]()
    for kind in kinds:
        request, number = kind.first.request, kind.number
        if request is not None:
            for card in dict.fromkeys(request.cards):
                asked[card] += request.amount * number
            for dimension, amount in request.cpu_memory:
                asked[dimension] += amount * number
    return asked

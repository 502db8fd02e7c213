"""May this gang start? Its members together, or none (E2, T3).

Pure questions to the ledger: nothing is charged here.
"""

from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Sequence
from itertools import islice
from math import gcd
from typing import Final, NamedTuple

from ...accounts.account import Account
from ...accounts.account_reader import AccountReader
from ...amounts import Amounts, Charge, MutableAmounts, is_card
from ...assignment.assignment import Assignment
from ...assignment.claim import Claim, claim_of
from ...assignment.flexible_claims import FlexibleClaims
from ...ledger.class_key import without_task
from ...ledger.groups.pod_group_state import set_aside
from ...ledger.ledger_reader import LedgerReader
from ...limits import GANG_KINDS
from ...messages import gang_messages, request_messages
from ...pods.pod_record import PodRecord
from ...pods.pod_request import PodRequest
from ...selectors.taints import Tolerations
from ...verdict import Outcome, Shortfall, Verdict
from ...vocabulary import Reason
from ..availabilities import Availabilities
from ..judgement import judge
from ..over_quota import over_quota
from ..quota_check import Availability

Served = list[tuple[Charge, int]]
"""Cards, and how many pods in a row get them."""
MOST_TRIED: Final = 256
"""Kinds of one gang that are judged on cards which then have no room for all of their task: some
ten milliseconds, beside pods that may still get any of several some more."""


class Kind(NamedTuple):
    """Pods that are equal in all that is judged."""

    first: PodRecord
    places: list[int]
    """The place of each among all that are judged together, in order."""

    @property
    def queue(self) -> str:
        """Whose quota they use."""
        return self.first.queue

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


_KindKey = tuple[int, bytes, int, str]
"""The identity of a class; and, of pods with a choice of cards alone, the selector and the number
of the tolerations; and the task, if that matters.
"""


def kinds_of(members: Sequence[PodRecord], most: int, *, each_task: bool = False) -> list[Kind]:
    """Members by kind, in the order of the first of each. Stops after `most` + 1 kinds.

    Pods of one class are equal, except for the nodes that pods with a choice of cards may use. A
    kind of those is of one task, as far as that makes no more than `most` kinds; for all others
    their task does not matter, unless `each_task` and the kinds are no more then either.
    """
    for by_task, others in ((True, True), (True, False))[not each_task :]:
        kinds = _kinds_of(members, most, by_task=by_task, others=others)
        if len(kinds) <= most:
            return kinds
    return _kinds_of(members, most, by_task=False, others=False)


def _kinds_of(
    members: Sequence[PodRecord], most: int, *, by_task: bool, others: bool
) -> list[Kind]:
    found: dict[_KindKey, Kind] = {}
    same: dict[Tolerations, int] = {}
    """By tolerations: one number for all that are equal."""
    alike: dict[Hashable, Hashable] = {}
    whatever_task: dict[int, int] = {}
    """By identity of a class key: that of the first one that differs in its task at most."""
    for place, record in enumerate(members):
        request, facts = record.request, record.facts
        pod_class = id(record if record.class_key is None else record.class_key)
        if facts.task:
            if pod_class not in whatever_task:
                rest = without_task(record.class_key)
                whatever_task[pod_class] = id(alike.setdefault(rest, rest))
            pod_class = whatever_task[pod_class]
        if request is not None and len(request.cards) > 1:
            tolerations = same.setdefault(facts.tolerations, len(same))
            key = pod_class, facts.selector, tolerations, facts.task if by_task else ""
        else:
            key = pod_class, b"", 0, facts.task if others else ""
        kind = found.get(key)
        if kind is None:
            kind = found[key] = Kind(record, [])
            if len(found) > most:
                break
        kind.places.append(place)
    return list(found.values())


class GangTrial:
    """The pods that go together, so far: what they ask for, and which cards they get."""

    def __init__(self, ledger: LedgerReader, *, mixtures: bool = True) -> None:
        """`mixtures`: whether pods of one task start as well on several cards."""
        self._ledger = ledger
        self._mixtures = mixtures
        self._tries = MOST_TRIED
        self.beside: MutableAmounts = {}
        """What all of them ask for together."""
        self.availabilities = Availabilities(ledger)

    def judge_each(self, kind: Kind) -> tuple[Verdict, Served]:
        """The verdict on a kind with a choice of cards, beside the pods so far, as if its pods came
        one after the other: of the first that does not fit, else that all fit. Also their cards.

        All get one card if one has room for all of them: the first that nodes have free for all,
        or, where they cannot all start at once on several cards either, the first with quota (E7).
        """
        if kind.number > 1 and (one_card := self._on_one_card([kind], at_once=True)):
            return Verdict(Outcome.FITS, kind.queue), one_card[0]
        if kind.number > 1 and not self._mixtures:
            one_card = self._on_one_card([kind], at_once=False)
            if one_card:
                return Verdict(Outcome.FITS, kind.queue), one_card[0]
        verdict, served, at_once = self._one_by_one(kind)
        if verdict.fits and len(served) > 1 and not at_once and self._mixtures:
            for cards, number in served:
                self._add(kind.first, cards, -number)
            one_card = self._on_one_card([kind], at_once=False)
            if one_card:
                return Verdict(Outcome.FITS, kind.queue), one_card[0]
            for cards, number in served:
                self._add(kind.first, cards, number)
        return verdict, served

    def judge_on_one_card(self, kind: Kind) -> Served | None:
        """One card for all pods of a kind beside the pods so far, of which nodes have enough free;
        None if there is none.
        """
        if len(kind.cards) <= 1:
            verdict = self.judge_alike(kind.first, kind.number)
            return [(verdict.cards, kind.number)] if verdict.fits else None
        if kind.number == 1:
            verdict, served, _ = self._one_by_one(kind)
            return served if verdict.fits else None
        found = self._on_one_card([kind], at_once=True)
        return found[0] if found else None

    def judge_task(self, kinds: Sequence[Kind]) -> list[Served] | None:
        """One card for all pods of a task, whatever its pods ask for besides: of which nodes have
        enough free, else one with quota. None if there is none.
        """
        found = self._on_one_card(kinds, at_once=True)
        return found or self._on_one_card(kinds, at_once=False)

    def _on_one_card(self, kinds: Sequence[Kind], *, at_once: bool) -> list[Served] | None:
        """All pods of some kinds on the first of the cards that all of them may use with room for
        all of them, without moving anybody; `at_once`: and nodes that have it free for all. None:
        there is none, or to find one costs too much.
        """
        account = self._ledger.account(kinds[0].queue)
        others_move = account is not None and account.flexible_claims is not None
        if account is None or (others_move and self._mixtures):
            return None
        # Sums cost least: nodes are looked at for what is left.
        left = self._with_quota(account, kinds)
        for card in cards_for_all(kinds, self.availabilities, left, at_once=at_once):
            if self._tries <= 0:
                return None
            served = self._all_on(card, kinds, at_once=at_once)
            if served is not None:
                return served
            if len(kinds) == 1 and not others_move:
                return None  # it lacks cpu or memory, so it does with any card
        return None

    def _with_quota(self, account: AccountReader, kinds: Sequence[Kind]) -> list[str]:
        """The cards that all of them may use and of which the quota has enough beside all that
        cannot move to another.
        """
        first, *others = kinds
        cards: Sequence[str] = first.cards
        for kind in others:
            allowed = set(kind.cards)
            cards = [card for card in cards if card in allowed]
        asked = sum(kind.amount * kind.number for kind in kinds)
        claims, quota, beside = account.flexible_claims, account.quota, self.beside
        found = []
        for card in cards:
            moves = claims.shown(card) if claims is not None else 0
            held = account.row(card).charged - moves + beside.get(card, 0)
            if quota.get(card, 0) - held >= asked:
                found.append(card)
        return found

    def _all_on(self, card: str, kinds: Sequence[Kind], *, at_once: bool) -> list[Served] | None:
        """Each kind on this card, one after the other; None, and nothing is kept, if one cannot."""
        found = list[Served]()
        for kind in kinds:
            enough = not at_once or self.availabilities.all_at_once(
                kind.first, card, kind.amount, kind.number
            )
            verdict = self.judge_alike(kind.first, kind.number, only=card) if enough else None
            if verdict is None or not verdict.fits:
                for before, served in zip(kinds, found, strict=False):
                    self._add(before.first, served[0][0], -before.number)
                self._tries -= 1 + len(found)
                return None
            found.append([(verdict.cards, kind.number)])
        return found

    def _one_by_one(self, kind: Kind) -> tuple[Verdict, Served, bool]:
        """Each pod on the best card that is left for it. Also whether nodes have all of them free.

        Costs by how often later pods get another card than the ones before.
        """
        served: Served = []
        record, left, at_once = kind.first, kind.number, True
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
                return verdict, [], False
            if availability_of is not None:
                at_once = at_once and all(
                    availability_of(card) is Availability.NOW for card, _ in verdict.cards
                )
            number = self._as_many(record, verdict.cards, left)
            self._add(record, verdict.cards, number)
            served.append((verdict.cards, number))
            left -= number
            if not left:
                return verdict, served, at_once

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


def cards_for_all(
    kinds: Sequence[Kind], availabilities: Availabilities, among: Sequence[str], *, at_once: bool
) -> Iterator[str]:
    """Which of these cards all pods of some kinds may get, the best first (E7): none that only
    nodes have that they do not pick, if those have another. `at_once`: of which nodes have enough
    free for all of a kind now.
    """
    found = dict.fromkeys(among, Availability.NOW)
    for kind in kinds:
        availability_of = availabilities.of(kind.first)
        if availability_of is None:
            continue
        own = {card: availability_of(card) for card in kind.cards}
        picks = bool(kind.first.facts.selector) and any(own.values())
        found = {
            card: min(when, own[card]) for card, when in found.items() if own[card] or not picks
        }
    if not at_once:
        yield from sorted(found, key=lambda card: -found[card])
        return
    for card in (card for card, when in found.items() if when is Availability.NOW):
        if all(
            availabilities.all_at_once(kind.first, card, kind.amount, kind.number) for kind in kinds
        ):
            yield card


def judge_gang(
    ledger: LedgerReader, members: Sequence[PodRecord], *, mixtures: bool = True
) -> tuple[Verdict, list[Charge]]:
    """The verdict on starting a gang: these members together, or none (E2).

    Also the cards that each member would be charged, in the same order; empty if they do not all
    fit. Kind by kind, each member gets the best of its cards that is left, unless a later member
    needs that very card (T3). Without `mixtures` one card for all of a kind goes before several,
    also if nodes have none of it free (V7).

    Costs by the number of kinds of members, and with a choice of cards by the nodes that they pick,
    not by the number of members. All searches together have one bound of steps.
    """
    each_task = not mixtures and _may_mix(members)
    kinds = kinds_of(members, GANG_KINDS.most, each_task=each_task)
    queue = members[0].queue
    if len(kinds) > GANG_KINDS.most:
        text = gang_messages.gang_too_unlike(members[0].facts.group, len(members), GANG_KINDS.most)
        return Verdict(Outcome.NEVER, queue, Reason.INVALID_CARD, text), []
    account = ledger.account(queue) or Account(queue)
    group = ledger.groups.get(members[0].facts.group)
    with set_aside(group, account):
        flexible_claims = account.flexible_claims or account.no_flexible_claims()
        with flexible_claims.one_question() as steps_left:
            verdict, served = _judge_kinds(ledger, kinds, flexible_claims, mixtures)
            # The search for one card may have used up the steps: then this says nothing.
            doubtful = not (verdict.fits or mixtures) and account.flexible_claims is not None
            if not (verdict.fits or doubtful):
                soon = group is None or not group.loses_members
                return _of_gang(account, verdict, kinds, steps_left(), soon=soon), []
    if doubtful:
        return judge_gang(ledger, members)
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


def _may_mix(members: Sequence[PodRecord]) -> bool:
    """Whether they may get different cards at all."""
    cards = {record.request.cards for record in members if record.request is not None}
    return len(cards) > 1 or any(len(some) > 1 for some in cards)


def _judge_kinds(
    ledger: LedgerReader, kinds: Sequence[Kind], flexible_claims: FlexibleClaims, mixtures: bool
) -> tuple[Verdict, list[Served]]:
    """The verdict on the first kind that does not fit beside those before it, else that all fit,
    and the cards of each kind.
    """
    trial, served = GangTrial(ledger, mixtures=mixtures), list[Served]()
    verdict = Verdict(Outcome.FITS)
    for kind in kinds:
        if len(kind.cards) > 1:
            verdict, found = trial.judge_each(kind)
        else:
            verdict = trial.judge_alike(kind.first, kind.number)
            found = [(verdict.cards, kind.number)]
        if not verdict.fits:
            choice = any(len(kind.cards) > 1 for kind in kinds)
            assigned = _assigned(ledger, flexible_claims, kinds, mixtures) if choice else None
            if assigned is None or not verdict.shortfalls:
                return verdict, []
            return Verdict(Outcome.FITS), _on_one_card_each(ledger, kinds, assigned, mixtures)
        served.append(found)
    return verdict, _on_one_card_each(ledger, kinds, served, mixtures)


def _on_one_card_each(
    ledger: LedgerReader, kinds: Sequence[Kind], served: Sequence[Served], mixtures: bool
) -> list[Served]:
    """Another way to serve them, each kind on one card, if some are on several: a kind that came
    first may have taken what another one needs for all of its pods (E7). Without `mixtures` each
    task, whatever its pods ask for besides (V7). Those that ask for most go first. As they are
    served already if that is no need, or no way was found.
    """
    parts: list[list[int]] = [[place] for place in range(len(kinds))]
    if not mixtures:
        tasks: dict[str | int, list[int]] = {}
        for place, kind in enumerate(kinds):
            tasks.setdefault(kind.first.facts.task if kind.amount else place, []).append(place)
        parts = list(tasks.values())
    if not any(_is_mixed(served[place] for place in part) for part in parts):
        return list(served)
    trial, found_by_place = GangTrial(ledger, mixtures=mixtures), dict[int, Served]()

    def place_of(part: list[int]) -> tuple[bool, int]:
        some = [kinds[place] for place in part]
        fixed = any(len(kind.cards) <= 1 for kind in some)
        return not fixed, -sum(kind.number * kind.amount for kind in some)

    for part in sorted(parts, key=place_of):
        some = [kinds[place] for place in part]
        if mixtures or not some[0].amount:
            one = trial.judge_on_one_card(some[0])
            found = [one] if one is not None else None
        else:
            found = trial.judge_task(some)
        if found is None:
            return list(served)
        found_by_place.update(zip(part, found, strict=True))
    return [found_by_place[place] for place in range(len(kinds))]


def _is_mixed(served: Iterable[Served]) -> bool:
    """Whether they are on more than one card."""
    return len({card for one in served for cards, _ in one for card, _ in cards}) > 1


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
    ledger: LedgerReader, flexible_claims: FlexibleClaims, kinds: Sequence[Kind], mixtures: bool
) -> list[Served] | None:
    """A card for each, found for all at once. None if no way was found to serve them all."""
    with flexible_claims.beside() as others:
        served = _cards_of(ledger, kinds, others.assignment, mixtures)
    # All other checks are made with these very cards.
    trial = GangTrial(ledger)
    for kind, found in zip(kinds, served or (), strict=False):
        for cards, number in found:
            only = cards[0][0] if cards else None
            if not trial.judge_alike(kind.first, number, only=only).fits:
                return None
    return served


def _cards_of(
    ledger: LedgerReader, kinds: Sequence[Kind], assignment: Assignment, mixtures: bool
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
            _fix(_Fixing(kind, assignment, availabilities, placed), mixtures)
            if kind.amount
            else [((), kind.number)]
            for kind in kinds
        ]
    finally:
        for claim, number in placed.items():
            assignment.give_back(claim, number)


def _fix(fixing: "_Fixing", mixtures: bool) -> Served:
    """Fix the best cards for the placed pods of a kind that all other claims leave: one for all of
    them where there is one, as `GangTrial.judge_each` does (E7).
    """
    if fixing.kind.number == 1 or len(fixing.kind.cards) == 1:
        return fixing.one_by_one()
    if fixing.on_one_card(at_once=True):
        return fixing.served
    if not mixtures and fixing.on_one_card(at_once=False):
        return fixing.served
    served = fixing.one_by_one()
    if len(served) > 1 and not fixing.at_once and mixtures:
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
        self._assignment = assignment
        self._availabilities = availabilities
        self._placed = placed
        self.served: Served = []
        self.at_once = True
        """Whether nodes have the cards of all of them free."""

    def on_one_card(self, *, at_once: bool) -> bool:
        """Fix one card for all. Returns whether one was found; else nothing is fixed."""
        kind = self.kind
        for card in cards_for_all([kind], self._availabilities, kind.cards, at_once=at_once):
            number = self._assignment.fix(kind.claim, card, kind.number)
            self._took(card, number)
            if number == kind.number:
                return True
            self.undo()
        return False

    def one_by_one(self) -> Served:
        """Fix the best card that is left for each."""
        kind, availabilities = self.kind, self._availabilities
        availability_of = availabilities.of(kind.first)
        cards, left, self.at_once = kind.cards, kind.number, True
        while left:
            if availability_of:
                cards = tuple(sorted(kind.cards, key=lambda card: -availability_of(card)))
            for card in cards:
                most = availabilities.as_many(kind.first, card, kind.amount, left)
                now = availability_of is None or availability_of(card) is Availability.NOW
                number = self._assignment.fix(kind.claim, card, most)
                if number:
                    break
            else:
                raise AssertionError(
                    f"{left} of {kind.claim} have a place, and none of their cards"
                )
            self.at_once = self.at_once and now
            self._took(card, number)
            left -= number
        return self.served

    def undo(self) -> None:
        """Take back what is fixed: the pods have places again, and keep them until fixed anew."""
        for cards, number in self.served:
            ((card, amount),) = cards
            self._assignment.give_back(Claim((card,), amount), number)
            self._placed[Claim((card,), amount)] -= number
            self._availabilities.go(card, amount, -number)
            self._placed[self.kind.claim] += self._assignment.place_many(self.kind.claim, number)
        self.served = []

    def _took(self, card: str, number: int) -> None:
        if number:
            kind = self.kind
            self._placed[kind.claim] -= number
            self._placed[Claim((card,), kind.amount)] += number
            self._availabilities.go(card, kind.amount, number)
            self.served.append((((card, kind.amount),), number))


def _of_gang(
    account: AccountReader,
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
    soon = soon and len(kinds) == 1 and len(kinds[0].cards) < 2
    shorts = []
    for short in verdict.shortfalls:
        asked = sum(_asks(kind.first.request, short.dimension) * kind.number for kind in kinds)
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

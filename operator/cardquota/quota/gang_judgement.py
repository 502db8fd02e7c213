"""May this gang start? Its members together, or none (E2, T3).

Pure questions to the ledger: nothing is charged here.
"""

from collections import Counter
from collections.abc import Sequence
from itertools import takewhile

from . import messages
from .account import Account
from .assignment import Assignment
from .claim import Claim, claim_of
from .judgement import Going, chances, judge
from .ledger import Ledger
from .over_quota import over_quota
from .pod_record import PodRecord
from .pod_request import PodRequest
from .stamp import Charge
from .verdict import Outcome, Shortfall, Verdict
from .vocabulary import CPU, MEMORY, Reason


class Together:
    """Pods that are let through together, so far: what they ask for, and which cards they get."""

    def __init__(self) -> None:
        self.beside: dict[str, int] = {}
        """What all of them ask for, by dimension."""
        self.going: dict[str, Counter[int]] = {}
        """By card, how many ask for which amount."""
        self.cards: list[Charge] = []

    def judge(self, ledger: Ledger, record: PodRecord, *, only: str = "") -> Verdict:
        """The verdict on one more beside these; if it fits, it is one of them."""
        verdict = judge(
            ledger,
            record.facts,
            record.queue,
            beside=self.beside,
            only=only,
            chance_of=chances(ledger, record, self.going),
        )
        if verdict.fits:
            self._add(record, verdict.cards, 1)
            for card, amount in verdict.cards:
                self.going.setdefault(card, Counter())[amount] += 1
            self.cards.append(verdict.cards)
        return verdict

    def judge_alike(self, ledger: Ledger, record: PodRecord, number: int) -> Verdict:
        """The verdict on so many more of one kind, which have no choice of cards."""
        beside, request = dict(self.beside), record.request
        if request is not None:
            cards = [(card, request.amount) for card in request.cards]
            for dimension, amount in (*cards, *request.cpu_memory):
                beside[dimension] = beside.get(dimension, 0) + (number - 1) * amount
        verdict = judge(ledger, record.facts, record.queue, beside=beside)
        if verdict.fits:
            self._add(record, verdict.cards, number)
        return verdict

    def _add(self, record: PodRecord, cards: Charge, number: int) -> None:
        others = record.request.cpu_memory if record.request else ()
        for dimension, amount in (*cards, *others):
            self.beside[dimension] = self.beside.get(dimension, 0) + amount * number


def judge_gang(ledger: Ledger, members: Sequence[PodRecord]) -> tuple[Verdict, list[Charge]]:
    """The verdict on starting a gang: these members together, or none (E2).

    Beside it what each member would be charged in cards, in the same order; empty if they do not
    all fit. Each gets the best of its cards that is left when all before it have theirs, unless
    one that comes later needs that very card (T3).
    """
    together = Together()
    if not any(request and len(request.cards) > 1 for request, _ in _kinds(members)):
        return _judge_alike(ledger, together, members)
    for record in members:
        verdict = together.judge(ledger, record)
        if not verdict.fits:
            account = ledger.account(verdict.queue)
            short = bool(verdict.shortfalls)
            chosen = _assigned(ledger, account, members) if account and short else []
            if chosen:
                break
            return _of_gang(ledger, verdict, members), []
    else:
        chosen = together.cards
    return _agreed(ledger, members, chosen)


def _judge_alike(
    ledger: Ledger, together: Together, members: Sequence[PodRecord]
) -> tuple[Verdict, list[Charge]]:
    """Where nobody has a choice, those who wait in one lane are alike: a judgement for each lane.

    A gang may have thousands of members.
    """
    lanes = [id(record if record.lane is None else record.lane) for record in members]
    numbers, firsts = Counter(lanes), dict(zip(lanes, members, strict=True))
    cards: dict[int, Charge] = {}
    for lane, record in firsts.items():
        verdict = together.judge_alike(ledger, record, numbers[lane])
        if not verdict.fits:
            return _of_gang(ledger, verdict, members), []
        cards[lane] = verdict.cards
    return _agreed(ledger, members, [cards[lane] for lane in lanes])


def _agreed(
    ledger: Ledger, members: Sequence[PodRecord], chosen: list[Charge]
) -> tuple[Verdict, list[Charge]]:
    disagreeing = _disagreeing(ledger, members, chosen)
    if disagreeing is not None:
        return disagreeing, []
    return Verdict(Outcome.FITS, members[0].queue), chosen


def _disagreeing(
    ledger: Ledger, members: Sequence[PodRecord], chosen: Sequence[Charge]
) -> Verdict | None:
    """Why members cannot start together that ask for one card by two resource names (D7).

    Of a card that is known each has heard it by itself; of one that no node has shown the first
    member's resource name is the card's.
    """
    behind: dict[str, str] = {}
    for record, cards in zip(members, chosen, strict=True):
        asked = record.request.resource if record.request else ""
        for card, amount in cards:
            first = behind.setdefault(card, asked)
            if first != asked:
                wrong = messages.other_resource(card, first, asked)
                text = messages.objected(record.queue, [(card, amount)], wrong)
                return Verdict(Outcome.NEVER, record.queue, Reason.INVALID_CARD, text)
    return None


def _assigned(ledger: Ledger, account: Account, members: Sequence[PodRecord]) -> list[Charge]:
    """A card for each, found for all at once; empty if there is no way to serve them all."""
    with (account.undecided or account.nobody_undecided()).beside() as others:
        cards = _cards_of(ledger, members, others.assignment)
    # Whatever else is to be said of them is said with these very cards.
    together = Together()
    for record, card in zip(members, cards, strict=False):
        if not together.judge(ledger, record, only=card).fits:
            return []
    return together.cards


def _cards_of(ledger: Ledger, members: Sequence[PodRecord], assignment: Assignment) -> list[str]:
    """The card of each member, empty for one that asks for none; nothing stays assigned.

    An empty list if there is no way to serve them all.
    """
    claims = [claim_of(_cards(record), _amount(record)) for record in members]
    placed = list(takewhile(lambda claim: not claim.amount or assignment.place(claim), claims))
    cards: list[str] = []
    going: dict[str, Counter[int]] = {}
    if len(placed) == len(claims):
        for number, (record, claim) in enumerate(zip(members, claims, strict=True)):
            fixed = _fix(ledger, record, assignment, going) if claim.amount else claim
            placed[number] = fixed
            cards.append(fixed.cards[0] if fixed.amount else "")
            going.setdefault(cards[-1], Counter())[fixed.amount] += 1
    for claim in placed:
        if claim.amount:
            assignment.give_back(claim)
    return cards


def _fix(ledger: Ledger, record: PodRecord, assignment: Assignment, going: Going) -> Claim:
    """Give a member that has a place the best of its cards that all others leave it (E7)."""
    cards, amount = _cards(record), _amount(record)
    chance_of = chances(ledger, record, going)
    order = sorted(cards, key=lambda card: -chance_of(card)) if chance_of else list(cards)
    assignment.give_back(claim_of(cards, amount))
    fixed = (Claim((card,), amount) for card in order)
    # If its place went to somebody who was short of one, the first: that has no room, as is seen
    # when all is judged once more.
    return next((one for one in fixed if assignment.place(one)), Claim((order[0],), amount))


def _of_gang(ledger: Ledger, verdict: Verdict, members: Sequence[PodRecord]) -> Verdict:
    """The failing member's verdict with the amounts of the whole gang."""
    if not verdict.shortfalls:
        return verdict
    account = ledger.account(verdict.queue)
    undecided, kinds = account.undecided if account else None, _kinds(members)
    shorts = []
    for short in verdict.shortfalls:
        asked = sum(_asks(request, short.dimension) * n for request, n in kinds)
        charged = account.row(short.dimension).charged if account else 0
        if undecided is not None and short.dimension not in (CPU, MEMORY):
            charged = undecided.held(short.dimension)
        shorts.append(Shortfall(short.dimension, asked, charged + asked, short.capability))
    never = any(short.never for short in shorts if short.dimension in (CPU, MEMORY))
    never = never or (account is not None and _never(account, members))
    return over_quota(
        verdict.queue,
        verdict.reason,
        shorts,
        never=never,
        rows=account.cards if account else (),
        together=any(request and len(request.cards) > 1 for request, _ in kinds),
    )


def _never(account: Account, members: Sequence[PodRecord]) -> bool:
    """Whether their cards would not fit the empty queue either (E5)."""
    empty = Assignment(lambda card: account.quota.get(card, 0))
    for request, number in _kinds(members):
        if request is not None and request.amount:
            claim = claim_of(request.cards, request.amount)
            if empty.place_many(claim, number) < number:
                return True
    return False


def _kinds(members: Sequence[PodRecord]) -> list[tuple[PodRequest | None, int]]:
    """What they ask for, and how many do: requests of pods that are written alike are one object.

    Some that are equal may be listed apart.
    """
    requests = {id(record.request): record.request for record in members}
    numbers = Counter(id(record.request) for record in members)
    return [(request, numbers[key]) for key, request in requests.items()]


def _cards(record: PodRecord) -> tuple[str, ...]:
    return record.request.cards if record.request else ()


def _amount(record: PodRecord) -> int:
    return record.request.amount if record.request else 0


def _asks(request: PodRequest | None, dimension: str) -> int:
    if request is None:
        return 0
    if dimension in request.cards:
        return request.amount
    return dict(request.cpu_memory).get(dimension, 0)

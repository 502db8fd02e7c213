"""The pods of a gang that go together, kind by kind, and the card that each gets (E7)."""

from collections.abc import Iterator, Sequence
from typing import Final

from ...accounts.account_reader import AccountReader
from ...amounts import Charge, MutableAmounts
from ...assignment.claim import Claim
from ...ledger.ledger_reader import LedgerReader
from ...pods.pod_record import PodRecord
from ...verdict import Outcome, Verdict
from ..fit.availabilities import Availabilities
from ..fit.quota_check import Availability
from ..judgement import judge
from .member_kinds import Kind

Served = list[tuple[Charge, int]]
"""Cards, and how many pods in a row get them."""
MOST_TRIED: Final = 256
"""Kinds of one gang that are judged on cards which then have no room for all of their task: some
ten milliseconds, beside pods that may still get any of several some more."""


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

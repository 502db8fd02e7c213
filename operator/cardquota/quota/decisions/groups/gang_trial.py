"""The pods of a gang that go together, kind by kind, and the card that each gets (E7)."""

from collections.abc import Iterator, Sequence

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

        All get one card if one has room for all of them: the first that nodes have free for all,
        or, where they cannot all start at once on several cards either, the first with quota (E7).
        """
        if kind.number > 1 and (one_card := self._on_one_card(kind, at_once=True)):
            return Verdict(Outcome.FITS, kind.queue), one_card
        verdict, served, at_once = self._one_by_one(kind)
        if verdict.fits and len(served) > 1 and not at_once:
            for cards, number in served:
                self._add(kind.first, cards, -number)
            one_card = self._on_one_card(kind, at_once=False)
            if one_card:
                return Verdict(Outcome.FITS, kind.queue), one_card
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
        return self._on_one_card(kind, at_once=True)

    def _on_one_card(self, kind: Kind, *, at_once: bool) -> Served | None:
        """All pods of a kind on the first of its cards with room for all of them, without moving
        anybody; `at_once`: and nodes that have it free for all. None: there is none, or others may
        still get any of several cards, and to find one costs too much.
        """
        account = self._ledger.account(kind.queue)
        if account is None or account.flexible_claims is not None:
            return None
        # Sums cost least: nodes are looked at for what is left.
        left = self._with_quota(account, kind)
        for card in cards_for_all(kind, self.availabilities, left, at_once=at_once):
            verdict = self.judge_alike(kind.first, kind.number, only=card)
            # If it lacks cpu or memory, it does with any card.
            return [(verdict.cards, kind.number)] if verdict.fits else None
        return None

    def _with_quota(self, account: AccountReader, kind: Kind) -> list[str]:
        """Its cards of which the quota has enough for all of them."""
        asked, quota, beside = kind.amount * kind.number, account.quota, self.beside
        return [
            card
            for card in kind.cards
            if quota.get(card, 0) - account.row(card).charged - beside.get(card, 0) >= asked
        ]

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
    kind: Kind, availabilities: Availabilities, among: Sequence[str], *, at_once: bool
) -> Iterator[str]:
    """Which of these cards all pods of a kind may get, the best first (E7): none that only nodes
    have that they do not pick, if those have another. `at_once`: of which nodes have enough free
    for all now.
    """
    found = dict.fromkeys(among, Availability.NOW)
    availability_of = availabilities.of(kind.first)
    if availability_of is not None:
        own = {card: availability_of(card) for card in kind.cards}
        picks = bool(kind.first.facts.selector) and any(own.values())
        found = {card: own[card] for card in among if own[card] or not picks}
    if not at_once:
        yield from sorted(found, key=lambda card: -found[card])
        return
    for card in (card for card, when in found.items() if when is Availability.NOW):
        if availabilities.all_at_once(kind.first, card, kind.amount, kind.number):
            yield card

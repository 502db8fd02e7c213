"""May this group be enqueued, before its pods are there? (E1)

Minimum + allocated + inqueue - elastic <= what is allowed, in every dimension that is asked for.
Pure questions to the ledger: nothing is charged here.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

from ...accounts.account import Account, AccountReader
from ...amounts import NO_AMOUNTS, Charge, MutableAmounts, add_amounts, canonical
from ...ledger.groups.group_facts import GroupFacts
from ...ledger.groups.group_request import AskedCards, GroupRequest
from ...ledger.ledger_reader import LedgerReader
from ...pending.candidate import BesideElastic, Needs
from ...verdict import Outcome, Shortfall, Verdict
from ..assignment import MemberKind, assigned, decided, on_one_card_each
from ..over_quota import OutsideQuota, over_quota, reason_of
from .group_judgement import judge_group


class EnqueueVerdict(NamedTuple):
    """The verdict on enqueueing a group."""

    verdict: Verdict
    amounts: Charge = ()
    """If it fits: what is to be reserved."""
    needs: Needs | None = None
    """If it lacks room: how much there must be before it is judged again."""


def judge_enqueue(
    ledger: LedgerReader, facts: GroupFacts, request: GroupRequest | None = None
) -> EnqueueVerdict:
    """The verdict on a group's request in its queue. `request`: another one than it writes itself.

    Which card of a choice is reserved is decided here, as for the members of a gang (E7). When its
    pods start, what they ask for is judged anew.
    """
    if request is not None and request != facts.request:
        facts = replace(facts, request=request)
    never = judge_group(ledger, facts)
    if not never.fits:
        return EnqueueVerdict(never)
    queue, rows = facts.queue, facts.request.cards
    account = ledger.account(queue) or Account(queue)
    # Pods that ask for cards may be free of these (P6).
    others = () if ledger.settings.exempt_cpu_memory and rows else facts.request.cpu_memory
    left = {card: _left(account, card) for row in rows for card in row.cards}
    kinds = [MemberKind(row.cards, 1, row.number) for row in rows]

    def is_free(place: int, card: str, going: Counter[int]) -> bool:
        return ledger.nodes.free.total(card) >= kinds[place].number + going.total()

    never_split_in = account.quota if ledger.with_volcano else NO_AMOUNTS
    given = decided(left, kinds, is_free, never_split_in=never_split_in)
    other_shorts = [short for one in others if (short := _short_of_other(account, *one))]
    if given is not None and not other_shorts:
        amounts: MutableAmounts = dict(others)
        for cards in given:
            add_amounts(amounts, cards.items())
        return EnqueueVerdict(Verdict(Outcome.FITS, queue), canonical(amounts))
    card_shorts = _short_of_cards(account, rows, left) if given is None else []
    verdict = over_quota(
        queue,
        reason_of(account, card_shorts, other_shorts),
        [*card_shorts, *other_shorts],
        never=False,
        outside=OutsideQuota(ledger, account),
    )
    needs: Needs = {BesideElastic(s.dimension): s.requested for s in card_shorts or other_shorts}
    if card_shorts and any(len(row.cards) > 1 for row in rows):
        # Any amount beyond what is left now may suffice.
        needs = {BesideElastic(card): now + 1 for card, now in sorted(left.items())}
    return EnqueueVerdict(verdict, (), needs)


def _held(account: AccountReader, dimension: str) -> int:
    """Allocated and inqueue, without what is elastic."""
    row = account.row(dimension)
    return row.charged - row.elastic


def _left(account: AccountReader, card: str) -> int:
    return account.quota.get(card, 0) - _held(account, card)


def _short_of_other(account: AccountReader, dimension: str, amount: int) -> Shortfall | None:
    limit, would_be = account.limit(dimension), _held(account, dimension) + amount
    if limit is None or would_be <= limit:
        return None
    return Shortfall(dimension, amount, would_be, limit)


def _short_of_cards(
    account: AccountReader, rows: Sequence[AskedCards], left: MutableAmounts
) -> list[Shortfall]:
    """The cards of the first row that does not fit beside those before it."""
    kinds = [MemberKind(row.cards, 1, row.number) for row in rows]
    ends = range(1, len(rows) + 1)
    number = next((n for n in ends if assigned(left, kinds[:n]) is None), 0)
    # Beside Volcano there may be room on several cards, where one has to be waited for (V7).
    number = number or next(n for n in ends if on_one_card_each(left, kinds[:n]) is None)
    short, found = rows[number - 1], []
    for card in short.cards:
        asked = sum(one.number for one in rows if one.cards == (card,))
        asked += short.number if len(short.cards) > 1 else 0
        would_be = _held(account, card) + asked
        found.append(Shortfall(card, asked, would_be, account.quota.get(card, 0)))
    return found

"""What a pod group says that it will ask for, against its queue: could it ever start (E5), and may
it be enqueued now, before its pods are there (E1)?

Minimum + allocated + inqueue - elastic <= what is allowed, in every dimension that is asked for.
Pure questions to the ledger: nothing is charged here. Costs by the alternatives that the group
names, which have a bound (P8).
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import chain
from typing import NamedTuple

from ..accounts.account import Account, AccountReader
from ..amounts import NO_AMOUNTS, Amount, Amounts, Charge, MutableAmounts, add_amounts, canonical
from ..cards.card import can_exist, model_of
from ..cards.vendor import PARTITIONS, counts_form, resource_by_name
from ..ledger.groups.group_facts import AskedCards, GroupFacts, GroupRequest
from ..ledger.ledger_reader import LedgerReader
from ..messages import group_messages, queue_messages, request_messages
from ..pending.candidate import BesideElastic, Needs
from ..pods.pod_request import card_meant
from ..verdict import Outcome, Shortfall, Verdict
from ..vocabulary import REQUEST, Mode, QueueState, Reason
from ..words import MOST_LISTED
from .assignment import MemberKind, assigned, decided, on_one_card_each
from .queue_room import beside_charged, over_quota, shortfall, shut_to
from .verdict_texts import queue_meant


def judge_group(ledger: LedgerReader, facts: GroupFacts, *, enters: bool = True) -> Verdict:
    """NEVER for what never fits, else FITS, which says nothing of the room there is now.

    The queue is `facts.queue`; where that is empty, or not seen, only the request itself is judged.
    `enters`: the group is new in its queue, which must exist, be open and admit its namespace (Q6).
    A group that is there already is not kept out by what has become of its queue.
    """
    queue, request = facts.queue, facts.request
    if request.problem:
        return _invalid(facts, group_messages.request_unreadable(request.problem))
    account = ledger.account(queue) if queue else None
    there = account.facts if account is not None else None
    if enters and queue and there is None:
        meant = queue_meant(ledger, queue, facts.namespace)
        text = queue_messages.queue_not_found(queue, _asked(request), meant=meant, group="")
        return Verdict(Outcome.NEVER, queue, Reason.QUEUE_NOT_FOUND, text)
    wrong = _unknown(ledger, request) or _mixed(ledger, request)
    if wrong:
        return _invalid(facts, wrong)
    if account is not None and there is not None:
        if enters and not (there.state is QueueState.OPEN and there.admits(facts.namespace)):
            return shut_to(account, facts.namespace, _asked(request), of_group=True)
        never = _over(ledger, account, request)
        if never is not None:
            return never
    return Verdict(Outcome.FITS, queue, warnings=_warnings(ledger, facts))


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
    rows, kinds = facts.request.cards, _kinds(facts.request.cards)
    account = ledger.account(facts.queue) or Account(facts.queue)
    others = _cpu_memory(ledger, facts.request)
    cards = set(_cards(facts.request))
    left = {card: (account.allowed(card) or 0) - _held(account, card) for card in cards}

    def is_free(place: int, card: str, going: Counter[int]) -> bool:
        return ledger.nodes.free.total(card) >= kinds[place].number + going.total()

    never_split_in = account.quota if ledger.with_volcano else NO_AMOUNTS
    given = decided(left, kinds, is_free, never_split_in=never_split_in)
    other_shorts = [short for one in others if (short := _short_of_other(account, *one))]
    if given is not None and not other_shorts:
        amounts: MutableAmounts = dict(others)
        for of_kind in given:
            add_amounts(amounts, of_kind.items())
        return EnqueueVerdict(Verdict(Outcome.FITS, facts.queue), canonical(amounts))
    card_shorts = _short_of_cards(account, rows, left) if given is None else []
    verdict = over_quota(ledger, account, [*card_shorts, *other_shorts], never=False)
    needs: Needs = {BesideElastic(s.dimension): s.requested for s in card_shorts or other_shorts}
    if card_shorts and any(len(row.cards) > 1 for row in rows):
        # Any amount beyond what is left now may suffice.
        needs = {BesideElastic(card): now + 1 for card, now in sorted(left.items())}
    return EnqueueVerdict(verdict, (), needs)


def _asked(request: GroupRequest) -> list[Amount]:
    """What it asks for, as it is written."""
    return [("|".join(row.cards), row.number) for row in request.cards]


def _invalid(facts: GroupFacts, text: str) -> Verdict:
    asked = _asked(facts.request)
    text = request_messages.invalid_request(facts.queue, asked, text, of_group=True)
    return Verdict(Outcome.NEVER, facts.queue, Reason.INVALID_CARD, text)


def _cards(request: GroupRequest) -> Iterator[str]:
    return chain.from_iterable(row.cards for row in request.cards)


def _kinds(rows: Sequence[AskedCards]) -> list[MemberKind]:
    """Each card of a row is decided by itself, so all are for the same amount."""
    return [MemberKind(row.cards, 1, row.number) for row in rows]


def _cpu_memory(ledger: LedgerReader, request: GroupRequest) -> Charge:
    """Pods that ask for cards may be free of these, and then only their requests tell (P6)."""
    return () if ledger.settings.exempt_cpu_memory and request.cards else request.cpu_memory


def _first_without_room(room: Amounts, rows: Sequence[AskedCards]) -> int:
    """The number, from 1, of the first row for which there is no room beside those before it; 0:
    there is room for all (T3). Exact.
    """
    kinds = _kinds(rows)
    return next((n for n in range(1, len(rows) + 1) if assigned(room, kinds[:n]) is None), 0)


# --- the request itself (P2, P4) ------------------------------------------------------------------


def _unknown(ledger: LedgerReader, request: GroupRequest) -> str:
    """Why one of its cards is none that anybody could have (P4); empty: all may be had."""
    for card in _cards(request):
        if ledger.catalog.resource(card) is not None:
            continue
        there = ledger.catalog.shows_product(model_of(card))
        if there or not ledger.in_any_quota(card):
            meant = card_meant(card, ledger)
            return request_messages.card_unknown(
                card, product_there=there, where=REQUEST, meant=meant
            )
        if not can_exist(card):
            return request_messages.card_impossible(card, REQUEST)
    return ""


def _mixed(ledger: LedgerReader, request: GroupRequest) -> str:
    """Why no one resource name counts all of its cards (P2); empty: one does, or may.

    Of a card that no node has shown it may not be known; its form then tells it from others.
    """
    first = resource = ""
    for card in _cards(request):
        behind = ledger.catalog.resource(card) or ledger.catalog.held_as(card) or ""
        if not first:
            first, resource = card, behind
        elif _differ(first, resource, card, behind):
            return group_messages.mixed_resources((first, resource), (card, behind))
        elif behind and not resource:
            first, resource = card, behind
    return ""


def _differ(card: str, resource: str, other: str, behind: str) -> bool:
    """Whether it is certain that two cards are counted by different resource names."""
    if resource and behind:
        return resource != behind
    if resource or behind:
        return not (counts_form(resource, other) if resource else counts_form(behind, card))
    return _form(card) != _form(other)


def _form(card: str) -> str:
    """What a resource name depends on beside the vendor: empty for a whole card or its partitions,
    the profile of a slice, and one word each for all shares, for slots and for card memory (D2-D6,
    D10, B10).
    """
    part = card.partition("/")[2]
    if part in PARTITIONS:
        return ""
    by_itself = not part or part.endswith("-mixed") or resource_by_name(card) is not None
    return part if by_itself else "share"


def _warnings(ledger: LedgerReader, facts: GroupFacts) -> tuple[str, ...]:
    """A warning for each row of which no node has any card, as of a pool scaled to zero (P4)."""
    rows = facts.request.cards
    waiting = (row.cards[0] for row in rows if not any(map(ledger.nodes.total, row.cards)))
    waits = ledger.mode_in(facts.namespace) is not Mode.AUDIT
    told = [
        request_messages.card_of_no_node(card, of_group=True, waits=waits)
        for card in dict.fromkeys(waiting)
    ]
    return tuple(told[:MOST_LISTED])


# --- against its queue (E1, E5, Q1, Q2) -----------------------------------------------------------


def _over(ledger: LedgerReader, account: AccountReader, request: GroupRequest) -> Verdict | None:
    """Why its minimum would not fit the empty queue either, with what is charged now; or None."""
    quota, asked = account.quota, request.cards
    # The first row of which no card is in the quota (Q1), else those for which it is too small.
    outside = ((row,) for row in asked if not any(card in quota for card in row.cards))
    rows: Sequence[AskedCards] = next(outside, ()) or _too_many(quota, asked)
    card_shorts = [
        beside_charged(account, card, sum(row.number for row in request.cards if card in row.cards))
        for card in dict.fromkeys(chain.from_iterable(row.cards for row in rows))
    ]
    limits = account.facts.limits if account.facts is not None else NO_AMOUNTS
    other_shorts = [
        beside_charged(account, dimension, amount)
        for dimension, amount in _cpu_memory(ledger, request)
        if amount > limits.get(dimension, amount)
    ]
    if not card_shorts and not other_shorts:
        return None
    several = len(card_shorts) > 1
    return over_quota(ledger, account, [*card_shorts, *other_shorts], never=True, several=several)


def _too_many(quota: Amounts, rows: Sequence[AskedCards]) -> Sequence[AskedCards]:
    """The first row for which the empty queue has no room, and all that compete with it; empty if
    there is room for all.
    """
    number = _first_without_room(quota, rows)
    if not number:
        return ()
    row = rows[number - 1]
    rivals = (one for one in rows if not {*row.cards}.isdisjoint(one.cards))
    return (row, *(one for one in rivals if one is not row))


def _held(account: AccountReader, dimension: str) -> int:
    """Allocated and inqueue, without what is elastic."""
    row = account.row(dimension)
    return row.charged - row.elastic


def _short_of_other(account: AccountReader, dimension: str, amount: int) -> Shortfall | None:
    limit, would_be = account.limit(dimension), _held(account, dimension) + amount
    if limit is None or would_be <= limit:
        return None
    return Shortfall(dimension, amount, would_be, limit)


def _short_of_cards(
    account: AccountReader, rows: Sequence[AskedCards], left: MutableAmounts
) -> list[Shortfall]:
    """The cards of the first row that does not fit beside those before it."""
    number = _first_without_room(left, rows)
    if not number:
        # Beside Volcano there may be room on several cards, where one has to be waited for (V7).
        kinds, ends = _kinds(rows), range(1, len(rows) + 1)
        number = next(n for n in ends if on_one_card_each(left, kinds[:n]) is None)
    short, found = rows[number - 1], []
    for card in short.cards:
        asked = sum(one.number for one in rows if one.cards == (card,))
        asked += short.number if len(short.cards) > 1 else 0
        would_be = _held(account, card) + asked
        found.append(shortfall(account, card, asked, would_be))
    return found

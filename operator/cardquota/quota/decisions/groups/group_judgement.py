"""Could a pod group ever start? What it says that it will ask for, against its queue (E5).

Whether there is room for it now is another question (E1). Pure questions to the ledger: nothing is
charged here. Costs by the alternatives that the group names, which have a bound (P8).
"""

from collections.abc import Iterator, Sequence
from itertools import chain

from ...accounts.account import AccountReader
from ...amounts import Amounts
from ...cards.card import can_exist, is_memory, model_of
from ...cards.vendor import PARTITIONS, counts_form
from ...ledger.groups.group_facts import GroupFacts
from ...ledger.groups.group_request import AskedCards, GroupRequest
from ...ledger.ledger_reader import LedgerReader
from ...messages import group_messages, queue_messages, request_messages
from ...pods.pod_request import card_meant
from ...verdict import Outcome, Verdict
from ...vocabulary import REQUEST, Mode, QueueState, Reason
from ...words import MOST_LISTED
from ..assignment import MemberKind, assigned
from ..over_quota import OutsideQuota, beside_charged, over_quota, reason_of
from ..probably_meant import queue_meant


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
    seen = account is not None and account.facts is not None
    if enters and queue and not seen:
        meant = queue_meant(ledger, queue, facts.namespace)
        text = queue_messages.group_queue_not_found(queue, _asked(request), meant=meant)
        return Verdict(Outcome.NEVER, queue, Reason.QUEUE_NOT_FOUND, text)
    wrong = _unknown(ledger, request) or _mixed(ledger, request)
    if wrong:
        return _invalid(facts, wrong)
    if account is not None and seen:
        never = (_shut_to(account, facts) if enters else None) or _over(ledger, account, request)
        if never is not None:
            return never
    return Verdict(Outcome.FITS, queue, warnings=_warnings(ledger, facts))


def _asked(request: GroupRequest) -> list[tuple[str, int]]:
    """What it asks for, as it is written."""
    return [("|".join(row.cards), row.number) for row in request.cards]


def _invalid(facts: GroupFacts, text: str) -> Verdict:
    asked = _asked(facts.request)
    text = request_messages.invalid_request(facts.queue, asked, text, of_group=True)
    return Verdict(Outcome.NEVER, facts.queue, Reason.INVALID_CARD, text)


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
    the profile of a slice, and one word each for all shares, and for card memory (D2-D6, B10).
    """
    part = card.partition("/")[2]
    if part in PARTITIONS:
        return ""
    return part if part.endswith("-mixed") or is_memory(card) or not part else "share"


def _cards(request: GroupRequest) -> Iterator[str]:
    return chain.from_iterable(row.cards for row in request.cards)


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


# --- its queue (E5, Q1, Q2, Q6) -------------------------------------------------------------------


def _shut_to(account: AccountReader, facts: GroupFacts) -> Verdict | None:
    """Why the queue takes no new group of this namespace, or None."""
    queue, asked = account.facts, _asked(facts.request)
    if queue is None or (queue.state is QueueState.OPEN and queue.admits(facts.namespace)):
        return None
    if queue.state is not QueueState.OPEN:
        text = queue_messages.queue_not_open(account.name, queue.state, asked, of_group=True)
    else:
        text = queue_messages.namespace_not_admitted(
            account.name, facts.namespace, asked, of_group=True
        )
    return Verdict(Outcome.NEVER, account.name, Reason.QUEUE_NOT_OPEN, text)


def _over(ledger: LedgerReader, account: AccountReader, request: GroupRequest) -> Verdict | None:
    """Why its minimum would not fit the empty queue either, with what is charged now; or None."""
    rows = _outside(account.quota, request.cards)
    if not rows:
        rows = _too_many(account.quota, request.cards)
    card_shorts = [
        beside_charged(account, card, sum(row.number for row in request.cards if card in row.cards))
        for card in dict.fromkeys(chain.from_iterable(row.cards for row in rows))
    ]
    # Pods that ask for cards may be free of these, and then only their requests tell (P6).
    free = ledger.settings.exempt_cpu_memory and bool(request.cards)
    limits = account.facts.limits if account.facts is not None and not free else {}
    other_shorts = [
        beside_charged(account, dimension, amount)
        for dimension, amount in request.cpu_memory
        if amount > limits.get(dimension, amount)
    ]
    if not card_shorts and not other_shorts:
        return None
    return over_quota(
        account.name,
        reason_of(account, card_shorts, other_shorts),
        [*card_shorts, *other_shorts],
        never=True,
        outside=OutsideQuota(ledger, account),
        several=len(card_shorts) > 1,
    )


def _outside(quota: Amounts, rows: Sequence[AskedCards]) -> Sequence[AskedCards]:
    """The first row of which no card is in the quota (Q1), if there is one."""
    return next(((row,) for row in rows if not any(card in quota for card in row.cards)), ())


def _too_many(quota: Amounts, rows: Sequence[AskedCards]) -> Sequence[AskedCards]:
    """The first row for which the empty queue has no room beside those before it, and all that
    compete with it; empty if there is room for all (T3).

    Exact: each card of a row is decided by itself, so all are for the same amount.
    """
    kinds = [MemberKind(row.cards, 1, row.number) for row in rows]
    for number, row in enumerate(rows, 1):
        if assigned(quota, kinds[:number]) is None:
            rivals = (one for one in rows if not {*row.cards}.isdisjoint(one.cards))
            return (row, *(one for one in rivals if one is not row))
    return ()

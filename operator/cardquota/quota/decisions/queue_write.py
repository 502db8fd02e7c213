"""What is said of a queue that is written: why it is refused (Q4, Q5, Q8), or what is odd (Q2).

Of the quota a card that no node has may be a typing error, or a pool scaled to zero; a quota above
the cluster may be wanted (Q3), and so may one below what is in use (Q7). So each is a Warning, and
only for rows that this write adds, changes or takes out: whoever meant it is not told again with
each write.
"""

from collections.abc import Callable
from itertools import chain, islice
from typing import Final, NamedTuple

from .. import vocabulary as v
from ..accounts.queue_facts import (
    LARGEST_WEIGHT,
    NO_ANNOTATIONS,
    QueueError,
    check_amounts,
    check_cards,
    check_surge,
    guaranteed,
    read_namespaces,
    read_stored_cards,
    read_stored_surge,
    written_quota,
)
from ..amounts import NO_AMOUNTS, Amounts, QuantityError, count, milli_bytes
from ..cards.card import can_exist
from ..cards.quota_text import MOST_ROWS, QuotaTextError
from ..close_names import close_names
from ..ledger.ledger_reader import LedgerReader
from ..messages import queue_write_messages
from ..objects.queue import Queue, QueueSpec
from ..words import MOST_LISTED, show


def ignored_cards(spec: QueueSpec, counts: Callable[[str], bool]) -> tuple[tuple[str, str], ...]:
    """The resource names in `spec` that count cards, each with its field (`capability`, `deserved`
    or `guarantee.resource`) before it, in the order in which they stand there; of each field the
    first 1,000 names are looked at. `counts`: whether a resource name counts cards.
    """
    guarantee = spec.guarantee.resource if spec.guarantee else None
    fields = (
        ("capability", spec.capability),
        ("deserved", spec.deserved),
        ("guarantee.resource", guarantee),
    )
    return tuple(
        (field, resource)
        for field, amounts in fields
        for resource in islice(amounts or (), MOST_ROWS)
        if counts(resource)
    )


def check_queue(queue: Queue) -> None:
    """Raise QueueError for what is refused at write: Q4, Q5, an unknown policy, an unknown state
    (Q8) or mode of reclaiming (L6).
    """
    notes = queue.metadata.annotations or NO_ANNOTATIONS
    try:
        written_quota(queue)
    except QuotaTextError as error:
        raise QueueError(queue_write_messages.quota_refused(str(error))) from None
    check_surge(notes.surge)
    check_cards(v.DESERVED, notes.deserved)
    check_cards(v.LENDABLE, notes.lendable)
    _one_of(v.POLICY, notes.policy, tuple(v.Policy))
    _one_of(v.QUEUE_STATE, notes.state, (v.QueueState.OPEN, v.QueueState.CLOSED))
    _one_of(v.QUEUE_RECLAIM, notes.reclaim, tuple(v.ReclaimMode))
    if notes.namespaces is not None:
        read_namespaces(notes.namespaces)
    if queue.spec.parent not in (None, "", v.ROOT_QUEUE):
        raise QueueError(queue_write_messages.parent_refused(queue.spec.parent))
    if queue.spec.weight is not None and not 1 <= queue.spec.weight <= LARGEST_WEIGHT:
        raise QueueError(queue_write_messages.weight_refused(queue.spec.weight, LARGEST_WEIGHT))
    spec = queue.spec
    check_amounts("capability", spec.capability)
    check_amounts("deserved", spec.deserved)
    check_amounts("guarantee.resource", spec.guarantee.resource if spec.guarantee else None)
    _check_card_guarantee(queue)


def doubts_about(queue: Queue, meant: Callable[[str], str]) -> tuple[str, ...]:
    """What is odd in a queue that is accepted: a Warning each, at most five. `meant`: the card that
    was probably meant, or an empty text.
    """
    notes, names = queue.metadata.annotations or NO_ANNOTATIONS, written_quota(queue)
    odd = [name for name in names if not can_exist(name)][:MOST_LISTED]
    doubts = [queue_write_messages.row_impossible(name, meant=meant(name)) for name in odd]
    lent = read_stored_surge(notes.surge).by_card
    doubts += [queue_write_messages.surge_without_quota(card) for card in lent if card not in names]
    return tuple(doubts[:MOST_LISTED])


def not_deserved(queue: Queue) -> tuple[tuple[str, str], ...]:
    """What of its guarantee a queue deserves less of, by resource and as it is written: Volcano's
    webhook refuses such a queue (V2). Amounts that cannot be read are left out.
    """
    deserved = queue.spec.deserved or {}
    guarantee = (queue.spec.guarantee.resource if queue.spec.guarantee else None) or {}
    found = []
    for name, value in islice(guarantee.items(), MOST_ROWS):
        try:
            if milli_bytes(deserved.get(name, 0)) < milli_bytes(value):
                found.append((name, str(value)))
        except QuantityError:
            continue
    return tuple(found)


def _one_of(key: str, value: str | None, allowed: tuple[str, ...]) -> None:
    if value is not None and value.strip() not in allowed:
        raise QueueError(queue_write_messages.not_one_of(key, value, allowed))


def _check_card_guarantee(queue: Queue) -> None:
    """Raise QueueError for a guarantee of a card in the quota that is no whole number of cards."""
    quota = written_quota(queue)
    for card, value in guaranteed(queue):
        if card not in quota:
            continue
        where = f"spec.guarantee.resource.{show(card)}"
        try:
            amount = count(value)
        except QuantityError as error:
            raise QueueError(queue_write_messages.card_amount_refused(where, str(error))) from None
        if amount < 0:
            raise QueueError(queue_write_messages.amount_negative(where, str(value)))


def doubts_about_rows(
    ledger: LedgerReader,
    queue: str,
    quota: Amounts,
    before: Amounts = NO_AMOUNTS,
    *,
    meant: Callable[[str], str],
) -> tuple[str, ...]:
    """At most five Warnings, then how many are left out. First what is in use, then cards that no
    node has, then what is above the cluster.

    `before`: the quota that is replaced. `meant`: which known card was probably meant. Costs a
    microsecond for each row of both, and those.
    """
    changed = {card: amount for card, amount in quota.items() if before.get(card) != amount}
    lowered = {card: quota.get(card, 0) for card in before if quota.get(card, 0) < before[card]}
    unknown = [card for card in changed if not ledger.nodes.has(card) and can_exist(card)]
    account = ledger.account(queue)
    rows = [(card, n, account.row(card)) for card, n in lowered.items()] if account else []
    in_use = [(card, n, row.allocated, row.inqueue) for card, n, row in rows if row.charged > n]
    totals = ((card, n, ledger.nodes.total(card)) for card, n in changed.items())
    above = [(card, n, total) for card, n, total in totals if 0 < total < n]
    told = chain(
        (queue_write_messages.row_below_use(*one) for one in in_use),
        (queue_write_messages.row_of_no_node(card, meant=meant(card)) for card in unknown),
        (queue_write_messages.row_above_cluster(*one) for one in above),
    )
    more = len(in_use) + len(unknown) + len(above) - MOST_LISTED
    rest = (queue_write_messages.more_rows(more),) if more > 0 else ()
    return (*islice(told, MOST_LISTED), *rest)


class OwedRows(NamedTuple):
    """What a queue that is written says of what it deserves (L1, L2)."""

    quota: Amounts = NO_AMOUNTS
    deserved: Amounts = NO_AMOUNTS
    lendable: Amounts = NO_AMOUNTS


NOTHING_OWED: Final = OwedRows()


def owed_rows(queue: Queue) -> OwedRows:
    """Raises QuotaTextError for a quota that cannot be read; of the others nothing is said then."""
    notes = queue.metadata.annotations or NO_ANNOTATIONS
    deserved, lendable = read_stored_cards(notes.deserved), read_stored_cards(notes.lendable)
    return OwedRows(written_quota(queue), deserved, lendable)


def doubts_about_owed(
    ledger: LedgerReader, queue: str, rows: OwedRows, before: OwedRows = NOTHING_OWED
) -> tuple[str, ...]:
    """At most five Warnings: what is owed or lent of a card without a quota, what is owed beyond
    the quota, or together with all other queues beyond the cluster (L1).

    `before`: what is replaced. Costs a microsecond for each row.
    """
    quota, now = rows.quota, ledger.account(queue)
    own = now.facts.card_deserved if now is not None and now.facts is not None else NO_AMOUNTS
    told: list[str] = []
    for key, written, former in (
        (v.DESERVED, rows.deserved, before.deserved),
        (v.LENDABLE, rows.lendable, before.lendable),
    ):
        for card, amount in written.items():
            if former.get(card) == amount and before.quota.get(card) == quota.get(card):
                continue
            if card not in quota:
                told.append(queue_write_messages.owed_without_quota(key, card))
            elif key == v.DESERVED:
                if amount > quota[card]:
                    told.append(queue_write_messages.owed_above_quota(card, amount, quota[card]))
                owed = ledger.shares.owed.get(card, 0) - own.get(card, 0) + amount
                if 0 < (total := ledger.nodes.total(card)) < owed:
                    told.append(queue_write_messages.owed_above_cluster(card, owed, total))
    return tuple(told[:MOST_LISTED])


def suggestions(ledger: LedgerReader) -> Callable[[str], str]:
    """Which known card was probably meant, in the Warnings of one write: empty if none is close, or
    if five were looked for.
    """
    left = iter(range(MOST_LISTED))
    return lambda card: known_card_meant(ledger, card) if next(left, None) is not None else ""


def known_card_meant(ledger: LedgerReader, card: str) -> str:
    """The closest card that is known: a node has it or had it, or a pod has held it and some quota
    has a row for it. Empty if none is close, or if the card is known itself: then its pool is at
    zero.
    """
    catalog = ledger.catalog
    if catalog.resource(card) is not None:
        return ""
    close = close_names(card, catalog.names, cards=True)
    known = (one for one in close if catalog.card(one) is not None or ledger.in_any_quota(one))
    return next(known, "")

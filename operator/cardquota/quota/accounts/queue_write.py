"""What is said of a queue that is written: why it is refused, or what in it is odd (Q2, Q4, Q8)."""

from collections.abc import Callable
from itertools import islice
from typing import Final, NamedTuple

from .. import vocabulary as v
from ..amounts import QuantityError, count, milli_bytes
from ..cards.card import can_exist
from ..cards.quota_text import MOST_ROWS, QuotaTextError, read_quota
from ..messages import queue_write_messages
from ..objects.queue import Queue, QueueSpec
from ..words import MOST_LISTED, show
from .queue_facts import (
    LARGEST_WEIGHT,
    NO_ANNOTATIONS,
    QueueError,
    check_amounts,
    check_surge,
    guaranteed,
    read_namespaces,
    read_stored_surge,
    written_quota,
)


class IgnoredCards(NamedTuple):
    """An amount of a resource name that counts cards, as it is written."""

    field: str
    """`capability`, `deserved` or `guarantee.resource`."""
    resource: str
    amount: str


_LONGEST: Final = 40
"""Characters of an amount."""


def ignored_cards(spec: QueueSpec, counts: Callable[[str], bool]) -> tuple[IgnoredCards, ...]:
    """Those of `spec`, in the order in which they stand there; of each field the first 1,000 names
    are looked at. `counts`: whether a resource name counts cards.
    """
    guarantee = spec.guarantee.resource if spec.guarantee else None
    fields = (
        ("capability", spec.capability),
        ("deserved", spec.deserved),
        ("guarantee.resource", guarantee),
    )
    return tuple(
        IgnoredCards(field, resource, show(str(amount), most=_LONGEST))
        for field, amounts in fields
        for resource, amount in islice((amounts or {}).items(), MOST_ROWS)
        if counts(resource)
    )


def _nothing_meant(card: str) -> str:
    return ""


def check_queue(queue: Queue) -> None:
    """Raise QueueError for what is refused at write: Q4, Q5, an unknown policy or state (Q8)."""
    notes = queue.metadata.annotations or NO_ANNOTATIONS
    if notes.quota is not None:
        try:
            read_quota(notes.quota)
        except QuotaTextError as error:
            raise QueueError(queue_write_messages.quota_refused(str(error))) from None
    check_surge(notes.surge)
    _one_of(v.POLICY, notes.policy, tuple(v.Policy))
    _one_of(v.QUEUE_STATE, notes.state, (v.QueueState.OPEN, v.QueueState.CLOSED))
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


def doubts_about(queue: Queue, meant: Callable[[str], str] = _nothing_meant) -> tuple[str, ...]:
    """What is odd in a queue that is accepted: a Warning each, at most five. `meant`: the card that
    was probably meant, or an empty text.
    """
    notes = queue.metadata.annotations or NO_ANNOTATIONS
    names = written_quota(queue)
    if names is None:
        return ()
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
    text = queue.metadata.annotations.quota if queue.metadata.annotations else None
    quota = read_quota(text) if text is not None else {}
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

"""What is kept of a queue: its quota, limits and rules (Q1-Q6)."""

import json
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import Final

import msgspec

from .. import vocabulary as v
from ..amounts import (
    LARGEST,
    NO_AMOUNTS,
    Amounts,
    MutableAmounts,
    Quantity,
    QuantityError,
    count,
    is_card,
    milli,
    whole,
)
from ..cards.card import LONGEST_NAME, NO_SURGE, Surge
from ..cards.quota_text import MOST_ROWS, QuotaTextError, read_quota, read_surge
from ..limits import (
    NAMESPACE_TEXT,
    NAMESPACES,
    NAMESPACES_TEXT,
    PATTERNS,
    RESOURCE_TEXT,
    Limit,
    size_of,
)
from ..messages import queue_write_messages, request_messages
from ..objects.meta import ResourceList
from ..objects.queue import Queue, QueueAnnotations, QueueStatus
from .wildcards import fits, is_pattern

LONGEST_TEXT: Final = 98_304
"""Bytes. With as much for a quota, and that again in what kubectl last applied, an object's
annotations have room for it."""
_DECODER: Final = msgspec.json.Decoder(QueueStatus)


def own_status(queue: Queue) -> QueueStatus:
    """What we have published of a queue, wherever that is. Never raises: an annotation that cannot
    be read says nothing, nor does a row that we cannot have written. What the status says comes
    first.
    """
    if queue.status.cards:
        return queue.status
    notes = queue.metadata.annotations
    text = notes.status if notes is not None else None
    if not isinstance(text, str) or len(text) > LONGEST_TEXT:
        return queue.status
    try:
        found = _DECODER.decode(text)
    except (msgspec.MsgspecError, ValueError, RecursionError):
        return queue.status
    found.cards = tuple(
        row
        for row in found.cards or ()  # within the bounds that the definition of Queues would keep
        if len(row.name) <= LONGEST_NAME and len(row.resource or "") <= RESOURCE_TEXT.most
        if 0 <= row.quota <= LARGEST
    )
    return found


NO_ANNOTATIONS = QueueAnnotations()
LARGEST_WEIGHT: Final = 65_535
"""As the definition of Queues has it."""
FIFO: Final = "fifo"
_SHUT: Final = (v.QueueState.CLOSED, v.QueueState.CLOSING)
_QUEUE: Final = 6_500
"""Bytes of a queue: facts, account, indexes."""
_ROW: Final = 1_200
"""Bytes of a row of its quota, the card's name included."""
_AMOUNT: Final = 400
"""Bytes of a row of what it is owed, or lends, the card's name included."""
_NAMESPACE: Final = 80
"""Bytes of an entry of `card.namespaces` besides its characters."""
_MOST_KNOWN: Final = 1_000
"""Namespaces of which it is remembered whether they may use a queue."""


class QueueError(ValueError):
    """Something in a queue that cannot be accepted at write; says what and what to do."""


@dataclass(slots=True, kw_only=True)
class QueueFacts:
    """One queue."""

    name: str
    uid: str
    revision: int = field(compare=False)
    generation: int
    quota: Amounts | None
    """None: the text cannot be read and the last good quota stays in force (Q4)."""
    quota_problem: str
    limits: Amounts
    """Of cpu and memory (Q2); one that is missing is not limited."""
    surge: Surge
    """What rolling updates may borrow (R6)."""
    spec_problem: str
    """What of the limits, or of the surge, cannot be read, which counts as 0; empty if all can."""
    guarantee: Amounts
    """Of cpu and memory; shown, no more."""
    deserved: Amounts
    """Of cpu and memory: by it queues are ordered (E6, W2)."""
    weight: int
    """Its part of a card that is oversold, against the weights of the others (W1)."""
    card_guarantee: Amounts
    """What it deserves at least of a card that is oversold (W1), by name; of a
    card outside its quota it means nothing."""
    card_deserved: Amounts
    """What it is owed of a card, by name (L1); of a card that is not in it, its part by weight. Of
    a card outside its quota it means nothing."""
    lendable: Amounts
    """What of that others may use, by name (L2); of a card that is not in it, all."""
    policy: v.Policy | None
    namespaces: tuple[str, ...] | None
    state: v.QueueState
    state_is_ours: bool
    """Whether `status.state` is ours to write: nobody else has closed the queue (Q6)."""
    priority: int
    fifo: bool
    reclaim_mode: v.ReclaimMode | None
    """What is done for what waits in it, at most what the installation does (L6). None: as that."""
    reclaimable: bool
    """Whether its pods may be ended for other queues (L4)."""
    recorded: Mapping[str, tuple[str, int]] = field(compare=False)
    """From its status: card -> (resource name or empty, last good quota). Survives a restart."""
    published_allocated: Amounts = field(compare=False)
    """From its status, by card."""
    published: bool = field(compare=False)
    """Whether its status is one of ours."""
    _admitted: dict[str, bool] = field(default_factory=dict, init=False, compare=False, repr=False)

    @property
    def kept_size(self) -> int:
        """Bytes that a queue takes (P8): at least what is measured, and not twice that where it
        shares no card with another one.
        """
        rows, namespaces = len(self.quota or ()), self.namespaces or ()
        others = len(self.card_deserved) + len(self.lendable)
        size = _QUEUE + _ROW * rows + _AMOUNT * others
        return size + sum(_NAMESPACE + len(one) for one in namespaces)

    def after(self, before: "QueueFacts | None") -> "QueueFacts":
        """With what the status of the same queue said before, if that was taken away: Volcano
        writes its own over it.
        """
        if self.published or before is None or before.uid != self.uid or not before.published:
            return self
        return replace(
            self,
            recorded=before.recorded,
            published_allocated=before.published_allocated,
            published=True,
        )

    def owed(self, card: str, quota: int) -> int | None:
        """What the queue is owed of a card, by its own words and its quota of it (L1); None: it
        does not say, and deserves its part by weight.
        """
        amount = self.card_deserved.get(card)
        return None if amount is None else min(amount, quota)

    def admits(self, namespace: str) -> bool:
        """Whether pods of a namespace may use it (`card.namespaces`)."""
        if self.namespaces is None:
            return True
        found = self._admitted.get(namespace)
        if found is None:  # asked with every event of a pod, and a hundred patterns take a while
            found = namespace in self.namespaces or any(
                fits(namespace, name) for name in self.namespaces if is_pattern(name)
            )
            if len(self._admitted) >= _MOST_KNOWN:
                self._admitted.clear()
            self._admitted[namespace] = found
        return found


def queue_facts(queue: Queue, *, open_to_all: bool = True) -> QueueFacts:
    """Read a stored queue. Never raises: what cannot be read is refused at write, and here it
    takes the safe side: last good quota, no namespace, no policy of its own. `open_to_all`: what
    it means that the queue names no namespaces (`requireNamespaces`).
    """
    notes = queue.metadata.annotations or NO_ANNOTATIONS
    problem, quota = "", None
    ours = _we_wrote_state(queue)
    try:
        quota = written_quota(queue)
    except QuotaTextError as error:
        problem = str(error)
    spec, own, policy = queue.spec, own_status(queue), (notes.policy or "").strip()
    reclaim = (notes.reclaim or "").strip()
    return QueueFacts(
        name=queue.metadata.name,
        uid=queue.metadata.uid,
        revision=int(queue.metadata.resource_version or 0),
        generation=queue.metadata.generation,
        quota=quota,
        quota_problem=problem,
        limits=_amounts(spec.capability),
        surge=read_stored_surge(notes.surge),
        spec_problem=_problem_of(queue),
        guarantee=_amounts(spec.guarantee.resource if spec.guarantee else None),
        deserved=_amounts(spec.deserved),
        # As Volcano has it, 1 where there is none. One that would be refused counts as 1, too.
        weight=spec.weight if spec.weight and 1 <= spec.weight <= LARGEST_WEIGHT else 1,
        card_guarantee=_card_guarantee(queue),
        card_deserved=read_stored_cards(notes.deserved),
        lendable=read_stored_cards(notes.lendable),
        policy=v.Policy(policy) if policy in tuple(v.Policy) else None,
        namespaces=_stored_namespaces(
            notes.namespaces if open_to_all else notes.namespaces or "[]"
        ),
        state=_state(queue, notes.state, "" if ours else queue.status.state),
        state_is_ours=state_is_ours(queue),
        priority=spec.priority or 0,
        fifo=spec.dequeue_strategy == FIFO,
        # As for no policy of its own: what is not known says nothing.
        reclaim_mode=v.ReclaimMode(reclaim) if reclaim in tuple(v.ReclaimMode) else None,
        reclaimable=spec.reclaimable is not False,
        recorded={row.name: (row.resource or "", row.quota) for row in own.cards or ()},
        published_allocated={
            row.name: min(max(0, row.allocated), LARGEST)
            for row in own.cards or ()
            if type(row.allocated) is int
        },
        published=own.observed_generation is not None,
    )


def state_is_ours(queue: Queue) -> bool:
    """Whether `status.state` is ours to write: we wrote it, or nobody has closed the queue (Q6)."""
    return queue.status.state in (None, "", v.QueueState.OPEN) or _we_wrote_state(queue)


def written_quota(queue: Queue) -> Amounts:
    """The quota as it is written. Raises QuotaTextError."""
    notes = queue.metadata.annotations
    return read_quota(notes.quota) if notes is not None and notes.quota is not None else {}


def read_namespaces(text: str) -> tuple[str, ...]:
    """The patterns of `card.namespaces`. Raises QueueError."""
    _within(NAMESPACES_TEXT, size_of(text))
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        found = None
    if not isinstance(found, list) or not all(isinstance(p, str) and p for p in found):
        raise QueueError(queue_write_messages.namespaces_refused())
    _within(NAMESPACES, len(found))
    _within(NAMESPACE_TEXT, max(map(size_of, found), default=0))
    _within(PATTERNS, sum(map(is_pattern, found)))
    return tuple(found)


def _within(limit: Limit, found: int) -> None:
    if found > limit.most:
        raise QueueError(request_messages.beyond_limit(limit, found, of="it"))


def check_surge(text: str | None) -> None:
    """Raise QueueError for what cannot be read (R6)."""
    try:
        read_surge(text if text is not None else "0")
    except QuotaTextError as error:
        raise QueueError(queue_write_messages.surge_refused(str(error))) from None


def read_stored_surge(text: str | None) -> Surge:
    """None where it cannot be read."""
    with suppress(QuotaTextError):
        return read_surge(text) if text is not None else NO_SURGE
    return NO_SURGE


def check_cards(key: str, text: str | None) -> None:
    """Raise QueueError for what an annotation says of cards, if it cannot be read (L1, L2)."""
    try:
        read_quota(text if text is not None else "{}")
    except QuotaTextError as error:
        raise QueueError(queue_write_messages.cards_refused(key, str(error))) from None


def read_stored_cards(text: str | None) -> Amounts:
    """By card what is owed, or lent. None where it cannot be read."""
    with suppress(QuotaTextError):
        return read_quota(text) if text is not None else NO_AMOUNTS
    return NO_AMOUNTS


def check_amounts(name: str, amounts: ResourceList | None) -> None:
    """Raise QueueError for cpu or memory of `spec.<name>` that cannot be counted."""
    for resource, read in ((v.CPU, milli), (v.MEMORY, whole)):
        where, value = f"spec.{name}.{resource}", (amounts or {}).get(resource, 0)
        try:
            amount = read(value)
        except QuantityError as error:
            raise QueueError(queue_write_messages.amount_refused(where, str(error))) from None
        if amount < 0:
            raise QueueError(queue_write_messages.amount_negative(where, str(value)))


def _card_guarantee(queue: Queue) -> Amounts:
    """By card, if it is one: which are in the quota is asked later, since that in force may be
    another than what is written (Q4). One that cannot be counted is none.
    """
    found: MutableAmounts = {}
    for card, value in islice(guaranteed(queue), MOST_ROWS):
        with suppress(QuantityError):
            found[card] = max(0, count(value))
    return found


def guaranteed(queue: Queue) -> Iterator[tuple[str, Quantity]]:
    """The entries of the guarantee but for cpu and memory. One by a card's name means that card;
    what stands there under a resource name says nothing: several models may be counted by it.
    """
    amounts = queue.spec.guarantee.resource if queue.spec.guarantee else None
    return ((name, value) for name, value in (amounts or {}).items() if is_card(name))


def _amounts(amounts: ResourceList | None) -> Amounts:
    """Cpu and memory; card resource names are ignored here (Q2), unreadable text limits to 0."""
    found: MutableAmounts = {}
    for resource, read in ((v.CPU, milli), (v.MEMORY, whole)):
        if amounts and resource in amounts:
            found[resource] = 0
            with suppress(QuantityError):
                found[resource] = max(0, read(amounts[resource]))
    return found


def _problem_of(queue: Queue) -> str:
    notes = queue.metadata.annotations or NO_ANNOTATIONS
    try:
        check_amounts("capability", queue.spec.capability)
        check_surge(notes.surge)
    except QueueError as error:
        return str(error)
    return ""


def _stored_namespaces(text: str | None) -> tuple[str, ...] | None:
    with suppress(QueueError):
        return read_namespaces(text) if text is not None else None
    return ()


def _we_wrote_state(queue: Queue) -> bool:
    """Whether `status.state` is our own echo of the annotation, not somebody else's word (Q6)."""
    return any(
        entry.manager == v.FIELD_MANAGER
        and isinstance(entry.fields.status, dict)
        and "f:state" in entry.fields.status
        for entry in queue.metadata.managed_fields or ()
    )


def _state(queue: Queue, annotation: str | None, status: str | None) -> v.QueueState:
    """Closed by either of them (Q6); a state we do not know is Open, as an absent one.

    One that is being deleted, and waits for a finalizer, takes nothing new either: it would go
    from under its pods (Q8).
    """
    if queue.metadata.deletion_timestamp is not None:
        return v.QueueState.CLOSING
    for text in ((annotation or "").strip(), status):
        if text in _SHUT:
            return v.QueueState(text)
    return v.QueueState.OPEN

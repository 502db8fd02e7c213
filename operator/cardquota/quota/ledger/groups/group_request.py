"""What a pod group says that its minimum will ask for, before its pods exist (E1)."""

from collections.abc import Iterator
from contextlib import suppress
from hashlib import blake2b
from itertools import islice
from typing import Final, NamedTuple

from ...amounts import Amount, QuantityError, milli, whole
from ...cards.quota_text import QuotaTextError, read_request
from ...kept_objects import SizedCache
from ...limits import REQUEST_CARDS, REQUEST_TEXT, RESOURCE_TEXT, RESOURCES, size_of
from ...objects.meta import ResourceList
from ...vocabulary import CPU, MEMORY, REQUEST
from ...words import show


class AskedCards(NamedTuple):
    """A number of cards, each of which may be any of `cards`, best first."""

    cards: tuple[str, ...]
    number: int


class GroupRequest(NamedTuple):
    """What the first `minMember` pods of a group will ask for together.

    It counts until those pods exist; then counts what they ask for (T2).
    """

    cards: tuple[AskedCards, ...] = ()
    """From the annotation `card.request`."""
    cpu_memory: tuple[Amount, ...] = ()
    """From `spec.minResources`: milli-cores and bytes, without zeros."""
    resources: tuple[Amount, ...] = ()
    """Its other resource names, where no annotation names cards: which of them are cards, and
    which cards, only the queue tells (V3). They are not asked for before Volcano asks."""
    problem: str = ""
    """Why it cannot be read, in words for the user; it then asks for nothing, and its group waits.
    Empty: it can."""

    def __bool__(self) -> bool:
        """Whether it asks for anything, or would if it could be read."""
        return bool(self.cards or self.cpu_memory or self.problem)

    @property
    def dimensions(self) -> frozenset[str]:
        """What it asks for: of a choice of cards, each of them."""
        cards = (card for row in self.cards for card in row.cards)
        return frozenset((*cards, *(name for name, _ in self.cpu_memory)))

    @property
    def mark(self) -> str:
        """Another one for every other request. It stands in a reservation, which ends when the
        group asks for something else.
        """
        text = repr((self.cards, self.cpu_memory, *self.resources))
        return blake2b(text.encode(errors="replace"), digest_size=12).hexdigest()


NO_REQUEST: Final = GroupRequest()
_LONGEST_REASON: Final = 300
"""Characters. It repeats what users wrote."""
_READ: Final = SizedCache[str, GroupRequest]()


def group_request(text: str | None, min_resources: ResourceList | None) -> GroupRequest:
    """Read `card.request` and `spec.minResources`. What cannot be read is the result's problem."""
    found = _cards(text) if text is not None else NO_REQUEST
    if found.problem or not min_resources:
        return found
    try:
        amounts = (
            (CPU, milli(min_resources.get(CPU, 0))),
            (MEMORY, whole(min_resources.get(MEMORY, 0))),
        )
    except QuantityError as error:
        return GroupRequest(problem=f"spec.minResources: {error}")
    for dimension, amount in amounts:
        if amount < 0:
            return GroupRequest(problem=f"spec.minResources: <{dimension}> is negative")
    others = () if found.cards else tuple(_others(min_resources))
    return found._replace(cpu_memory=tuple(one for one in amounts if one[1]), resources=others)


def _others(min_resources: ResourceList) -> Iterator[Amount]:
    """What `minResources` names beside cpu and memory. What is no whole number of any is none."""
    for name in islice(min_resources, RESOURCES.most):
        if "/" not in name or size_of(name) > RESOURCE_TEXT.most:
            continue
        with suppress(QuantityError):
            amount = whole(min_resources[name])
            if amount > 0:
                yield name, amount


def _cards(text: str) -> GroupRequest:
    size = size_of(text)
    if size > REQUEST_TEXT.most:
        return _unreadable(f"it has {size} bytes, at most {REQUEST_TEXT.most} are read")
    known = _READ.get(text)
    if known is not None:
        return known
    try:
        rows = read_request(text)
    except QuotaTextError as error:
        return _READ.put(text, _unreadable(str(error)), 2 * size)
    named = sum(map(len, rows))
    if named > REQUEST_CARDS.most:
        found = _unreadable(f"it names {named} cards, at most {REQUEST_CARDS.most} are read")
    elif not rows:
        found = _unreadable("it names no card; leave the annotation out instead")
    else:
        asked = (AskedCards(cards, number) for cards, number in rows.items())
        found = GroupRequest(tuple(asked))
    return _READ.put(text, found, 4 * size)


def _unreadable(why: str) -> GroupRequest:
    return GroupRequest(
        problem=f"the annotation {REQUEST} cannot be read: {show(why, most=_LONGEST_REASON)}"
    )

"""What a node says of its cards whose memory is shared: how many, how large, and which are broken.

The device plugin offers `aliyun.com/gpu-mem`, the memory of all cards together, and
`aliyun.com/gpu-count`. Cards are of one size, unless the annotation `volcano.sh/card.memory` says
how large each is. The size of a card is read from the capacity where there is one: what is
allocatable shrinks with a broken card, and the others do not.
"""

import re
from collections.abc import Mapping
from contextlib import suppress
from enum import StrEnum
from functools import lru_cache
from typing import Final, NamedTuple

from msgspec import DecodeError
from msgspec.json import Decoder

from .. import vocabulary as v
from ..amounts import LARGEST, Quantity, QuantityError, count
from ..words import show

_LIST: Final = re.compile(r"(0|[1-9][0-9]{0,8})(,(0|[1-9][0-9]{0,8}))*", re.ASCII)
_LONGEST: Final = 4 * 1024
"""Characters: room for every card of a node three times."""


class UnhealthyListError(ValueError):
    """The list cannot be read; the text says why, and what to write."""


def read_unhealthy(text: str, cards: int | None) -> tuple[int, ...]:
    """The indexes of a list, sorted, each once. An empty text is an empty list.

    `cards`: how many the node has; None if that is not known. Raises UnhealthyListError.
    """
    if not text:
        return ()
    if len(text) > _LONGEST or _LIST.fullmatch(text) is None:
        raise UnhealthyListError(
            f"<{show(text)}> is not a list of cards: write their indexes with commas and without "
            "spaces, such as 0,2"
        )
    found = tuple(sorted({int(index) for index in text.split(",")}))
    if cards is not None and found[-1] >= cards:
        raise UnhealthyListError(
            f"<{show(text)}> names card <{found[-1]}>, the node has cards 0 to {cards - 1}"
            if cards
            else f"<{show(text)}> names card <{found[-1]}>, the node has none"
        )
    return found


MOST_CARDS: Final = 256
"""Cards of one node whose memory is shared. Servers have 16."""
LONGEST_SIZES: Final = 8 * 1024
"""Characters of the annotation with the sizes of a node's cards."""
_SMALLEST_MIB: Final = 1024
"""A card has at least one GiB and less than a TiB: so a smaller number is in GiB."""


class SharedUnit(StrEnum):
    """What one `aliyun.com/gpu-mem` of a node is. Amounts in different units are never added."""

    MIB = "MiB"
    GIB = "GiB"


class MemoryShape(NamedTuple):
    """The shared cards of one node. Amounts in its unit."""

    sizes: tuple[int, ...]
    """By card. Empty if that cannot be read: then no pod fits."""
    allocatable: int
    """What the node offers of all cards together."""
    unhealthy: tuple[int, ...] | None = ()
    """Indexes of broken cards by the node's annotation; None if that cannot be read."""
    problems: tuple[str, ...] = ()
    """Why cards or their state cannot be read."""

    @property
    def unit(self) -> SharedUnit:
        """By the size of the largest card."""
        largest = max(self.sizes, default=_SMALLEST_MIB)
        return SharedUnit.GIB if largest < _SMALLEST_MIB else SharedUnit.MIB

    @property
    def total(self) -> int:
        """Of all cards together."""
        return sum(self.sizes)


class _ShapeError(ValueError):
    """The node's cards cannot be read; the text says why."""


def read_shape(
    allocatable: Mapping[str, Quantity],
    capacity: Mapping[str, Quantity],
    sizes: str | None,
    unhealthy: str | None,
) -> MemoryShape | None:
    """The shared cards of a node, None if it has none.

    `sizes` and `unhealthy`: its annotations. Never raises: what is wrong is in `problems`, and a
    node whose cards cannot be read has none that is free.
    """
    try:
        offered = _amount(allocatable, v.GPU_MEMORY)
        memory = max(offered, _amount(capacity, v.GPU_MEMORY))
        number = _amount(allocatable, v.GPU_COUNT) or _amount(capacity, v.GPU_COUNT)
        if not memory and not number:
            return None
        cards = _sizes(memory, number, sizes)
    except _ShapeError as error:
        # What cards are broken cannot be read either: nobody knows how many there are.
        return MemoryShape((), 0, None, (str(error),))
    try:
        broken = read_unhealthy(unhealthy or "", len(cards))
    except UnhealthyListError as error:
        text = f"annotation {v.UNHEALTHY_CARDS}: {error}"
        return MemoryShape(cards, offered, None, (text,))
    return MemoryShape(cards, offered, broken)


def _amount(amounts: Mapping[str, Quantity], resource: str) -> int:
    value = amounts.get(resource)
    if value is None:
        return 0
    try:
        found = count(value)
    except QuantityError as error:
        raise _ShapeError(f"{resource}: {error}") from None
    if found < 0:
        raise _ShapeError(f"{resource}: <{value}> is negative")
    return found


@lru_cache(maxsize=256)  # of short texts: whatever is longer is refused before
def _sizes(memory: int, number: int, text: str | None) -> tuple[int, ...]:
    if not number:
        raise _ShapeError(f"{v.GPU_MEMORY} <{memory}> is offered without {v.GPU_COUNT}")
    if not memory:
        raise _ShapeError(f"{v.GPU_COUNT} <{number}> is offered without {v.GPU_MEMORY}")
    if number > MOST_CARDS:
        raise _ShapeError(f"{v.GPU_COUNT} is <{number}>, at most <{MOST_CARDS}> are read")
    if text is not None:
        return _sizes_written(memory, number, text)
    if number > memory:
        raise _ShapeError(f"{v.GPU_COUNT} <{number}> is more than {v.GPU_MEMORY} <{memory}>")
    return (memory // number,) * number


_SIZES: Final = Decoder(list[int])


def _sizes_written(memory: int, number: int, text: str) -> tuple[int, ...]:
    where, sizes = f"annotation {v.CARD_MEMORY}", list[int]()
    with suppress(DecodeError):
        sizes = _SIZES.decode(text) if len(text) <= LONGEST_SIZES else []
    if not sizes or not all(0 < size <= LARGEST for size in sizes):
        raise _ShapeError(
            f"{where}: <{show(text)}> is not a JSON list of whole numbers above zero, such as "
            "[16276, 8138]"
        )
    if len(sizes) != number:
        raise _ShapeError(f"{where} has <{len(sizes)}> cards, {v.GPU_COUNT} is <{number}>")
    if sum(sizes) > memory:
        raise _ShapeError(
            f"{where} has <{sum(sizes)}> in all, {v.GPU_MEMORY} is <{memory}>: it must not be more"
        )
    return tuple(sizes)


UNKNOWN: Final = -1
"""The card of a pod of which nobody knows it: it holds memory on one of its node's cards."""
LATEST: Final = 2**62
"""Nanoseconds. A later time is nobody's clock, and is not read."""
_INDEX: Final = re.compile(r"0|[1-9][0-9]{0,8}", re.ASCII)
_NANOSECONDS: Final = re.compile(r"[0-9]{1,19}", re.ASCII)
_GIVEN: Final = "true"


class CardPlacement(NamedTuple):
    """What a bound pod holds of one card. `amount` in its node's unit."""

    card: int
    """Its index, or UNKNOWN."""
    amount: int
    assigned: bool = False
    """Whether the device plugin has given it the card."""
    assumed_at: int = 0
    """Nanoseconds; 0 if it is not said or cannot be read."""
    problem: str = ""
    """Why the card is not known; empty if it is."""


def read_placement(
    amount: int, card: str | None, of_pod: str | None, assigned: str | None, assumed_at: str | None
) -> CardPlacement:
    """The placement of a pod that asks for `amount`, from the texts of its annotations.

    Never raises. A card that cannot be read is UNKNOWN, never free: `problem` says what is wrong.
    """
    given = assigned == _GIVEN
    time = int(assumed_at) if assumed_at and _NANOSECONDS.fullmatch(assumed_at) else 0
    problem = _problem(amount, card, of_pod)
    index = UNKNOWN if problem or card is None else int(card)
    return CardPlacement(index, amount, given, time if time < LATEST else 0, problem)


def _problem(amount: int, card: str | None, of_pod: str | None) -> str:
    if card is None:
        return f"it has no annotation {v.GPU_MEMORY_CARD}"
    if _INDEX.fullmatch(card) is None:
        return f"annotation {v.GPU_MEMORY_CARD} <{show(card)}> is not the index of a card"
    if of_pod is not None and of_pod != str(amount):
        return (
            f"annotation {v.GPU_MEMORY_OF_POD} is <{show(of_pod)}>, the pod asks for <{amount}> "
            f"{v.GPU_MEMORY}"
        )
    return ""


def placement_annotations(card: int, amount: int, size: int, assumed_at: int) -> dict[str, str]:
    """What a Binding carries for the device plugin. `size`: of the card; times in nanoseconds."""
    return {
        v.GPU_MEMORY_CARD: str(card),
        v.GPU_MEMORY_OF_POD: str(amount),
        v.GPU_MEMORY_OF_CARD: str(size),
        v.GPU_MEMORY_ASSIGNED: "false",
        v.GPU_MEMORY_ASSUMED_AT: str(assumed_at),
    }

"""What a node says of its cards whose memory is shared: how many, how large, and which are broken.

The device plugin offers `aliyun.com/gpu-mem`, the memory of all cards together, and
`aliyun.com/gpu-count`. Cards are of one size, unless the annotation `volcano.sh/card.memory` says
how large each is. The size of a card is read from the capacity where there is one: what is
allocatable shrinks with a broken card, and the others do not.
"""

import json
from collections.abc import Mapping
from enum import StrEnum
from functools import lru_cache
from typing import Final, NamedTuple

from .. import vocabulary as v
from ..quantity import LARGEST, Quantity, QuantityError, count
from ..words import show
from .unhealthy_cards import UnhealthyListError, read_unhealthy

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


def _sizes_written(memory: int, number: int, text: str) -> tuple[int, ...]:
    where = f"annotation {v.CARD_MEMORY}"
    found: object = None
    if len(text) <= LONGEST_SIZES:
        try:
            found = json.loads(text)
        except (ValueError, RecursionError):
            found = None
    sizes = found if isinstance(found, list) else []
    if not sizes or not all(type(size) is int and 0 < size <= LARGEST for size in sizes):
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

"""The memory of one card as a node's label has it: each maker writes it in its own way (D6)."""

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Final

_MOST_DIGITS: Final = 18
_WRITTEN: Final = re.compile(r"([0-9]{1,9})(M|MB|Mi|MiB|G|GB|Gi|GiB|(?<=[0-9]{4}))", re.ASCII)
_MIB_PER_GIB: Final = 1024


class MemoryUnit(StrEnum):
    """In what a label's number is. Makers write G and GB and mean GiB: one gets as much as fits."""

    MIB = "MiB"
    """A whole number of MiB, without a unit."""
    WRITTEN = "written"
    """A whole number with its unit: `64G`, `64GB`, `98304MiB`. One of at least four digits may also
    stand alone: then it can only be MiB."""


def mib_of(text: str, unit: MemoryUnit) -> int | None:
    """MiB, above zero; None: it cannot be read."""
    if unit is MemoryUnit.MIB:
        plain = text.isascii() and text.isdigit() and len(text) <= _MOST_DIGITS
        return (int(text) or None) if plain else None
    found = _WRITTEN.fullmatch(text)
    if found is None:
        return None
    return int(found[1]) * (_MIB_PER_GIB if found[2].startswith("G") else 1) or None


def gib_of(mib: int) -> int:
    """Whole GiB, rounded half up: what the name of a share says (D3)."""
    return (2 * mib + _MIB_PER_GIB) // (2 * _MIB_PER_GIB)


@dataclass(frozen=True, slots=True)
class MemoryLabel:
    """What a node's label says of the memory of one card, of a share whose name says it (D3, P5).

    Several values of the label are the same share: its name has whole GiB.
    """

    key: str
    gib: int
    unit: MemoryUnit
    values: tuple[str, ...] = ()
    """Of a label with a unit: those that nodes have shown, sorted. There is no end to how the same
    number can be written, and affinity can ask for such a label by whole values alone."""

    @property
    def least(self) -> int:
        """The least MiB that are rounded to it; a label has at least 1."""
        return max(1, self.gib * _MIB_PER_GIB - _MIB_PER_GIB // 2)

    @property
    def most(self) -> int:
        """The most MiB that are rounded to it."""
        return self.gib * _MIB_PER_GIB + _MIB_PER_GIB // 2 - 1

    def also(self, values: Iterable[str]) -> "MemoryLabel":
        """With more values that nodes have shown; the same object if they are none."""
        both = tuple(sorted({*self.values, *values}))
        return self if both == self.values else replace(self, values=both)

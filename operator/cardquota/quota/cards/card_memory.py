"""The memory of one card as a node's label states it. Each maker writes it differently (D6)."""

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Final

_MOST_DIGITS: Final = 18
_WRITTEN: Final = re.compile(r"([0-9]{1,9})(M|MB|Mi|MiB|G|GB|Gi|GiB|(?<=[0-9]{4}))", re.ASCII)
_MIB_PER_GIB: Final = 1024


class MemoryUnit(StrEnum):
    """The unit of a label's number. Makers write G and GB and mean GiB; all are read as GiB."""

    MIB = "MiB"
    """A whole number of MiB, without a unit."""
    WRITTEN = "written"
    """A whole number with its unit: `64G`, `64GB`, `98304MiB`. A number of at least four digits may
    have no unit: then it can only be MiB."""


def mib_of(text: str, unit: MemoryUnit) -> int | None:
    """MiB, above zero. None if the text cannot be read."""
    if unit is MemoryUnit.MIB:
        plain = text.isascii() and text.isdigit() and len(text) <= _MOST_DIGITS
        return (int(text) or None) if plain else None
    found = _WRITTEN.fullmatch(text)
    if found is None:
        return None
    return int(found[1]) * (_MIB_PER_GIB if found[2].startswith("G") else 1) or None


def gib_of(mib: int) -> int:
    """Whole GiB, rounded half up, as in the name of a share (D3)."""
    return (2 * mib + _MIB_PER_GIB) // (2 * _MIB_PER_GIB)


@dataclass(frozen=True, slots=True)
class MemoryLabel:
    """The memory of one card as a node's label states it, for a share whose name has it (D3, P5).

    Several values of the label are the same share: the name has whole GiB.
    """

    key: str
    gib: int
    unit: MemoryUnit
    values: tuple[str, ...] = ()
    """For a label with a unit: the values that nodes have shown, sorted. The same number can be
    written in endless ways, and affinity can select such a label only by whole values."""

    @property
    def least(self) -> int:
        """The least MiB that round to this size; a label has at least 1."""
        return max(1, self.gib * _MIB_PER_GIB - _MIB_PER_GIB // 2)

    @property
    def most(self) -> int:
        """The most MiB that round to this size."""
        return self.gib * _MIB_PER_GIB + _MIB_PER_GIB // 2 - 1

    def also(self, values: Iterable[str]) -> "MemoryLabel":
        """The label with more values that nodes have shown. The same object if none is new."""
        both = tuple(sorted({*self.values, *values}))
        return self if both == self.values else replace(self, values=both)

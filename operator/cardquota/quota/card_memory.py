"""The memory of one card as a node's label has it: each maker writes it in its own way (D6)."""

import re
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

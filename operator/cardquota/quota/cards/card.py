"""Cards as users name them: a definition per card, and the alternatives a pod writes.

A card name is never a resource name: `NVIDIA-H200` is the card, `nvidia.com/gpu` what Kubernetes
counts for it.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import lru_cache
from typing import Final

from ..amounts import is_card
from ..words import show

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


LONGEST_NAME: Final = 256
"""Characters. Label values have at most 63, a profile or share adds a few."""

_LONGEST_KEPT: Final = 512
"""Characters of the longest annotation that is remembered."""

_PRODUCT: Final = re.compile(r"[A-Za-z0-9]([A-Za-z0-9_.-]{0,61}[A-Za-z0-9])?")
"""A product is the value of a label (D9)."""
_PART: Final = re.compile(
    r"mig-[A-Za-z0-9][A-Za-z0-9._-]*-mixed|gpu-mem|[dtqc]px_nps[0-9]"
    r"|(mps|shared)-([0-9]+g|mig-[A-Za-z0-9][A-Za-z0-9._-]*)\*1/[1-9][0-9]*"
)
"""A slice, partition or share of a product (D3, D4, D6), or the memory of its cards (B10)."""
_MEMORY: Final = "/gpu-mem"


class CardNameError(ValueError):
    """A `card.name` that cannot be read (P2); the text says which part and what to write."""


Labels = tuple[tuple[str, str], ...]
"""Keys and values."""


@dataclass(frozen=True, slots=True)
class Card:
    """One kind of card: its name, the resource behind it and the node labels that show it.

    `labels` are those that a node must have for a pod to get this very card (P5).
    """

    name: str
    resource: str
    labels: Labels
    memory: MemoryLabel | None = None
    """The label that must say the memory of this share."""
    barred: Labels = ()
    """Labels that a node must not carry with these values; it may have them with others, or not at
    all. No key of `labels` is among them."""
    unit: str = ""
    """Of card memory: what one of it is, MiB or GiB. Empty for cards."""

    @property
    def keys(self) -> tuple[str, ...]:
        """The keys of all labels by which the card is told from others."""
        keys = tuple(key for key, _ in (*self.labels, *self.barred))
        return keys if self.memory is None else (*keys, self.memory.key)


def model_of(name: str) -> str:
    """The product of a card or of its part: `NVIDIA-H200` of `NVIDIA-H200/mig-1g.18gb-mixed`."""
    return name.split("/", 1)[0]


def memory_card(product: str) -> str:
    """The name under which a quota counts the memory of a product's cards (B10)."""
    return product + _MEMORY


def is_memory(name: str) -> bool:
    """Whether a card's name stands for the memory of cards: its amounts are MiB or GiB (B10)."""
    return name.endswith(_MEMORY)


def check_name(name: str) -> None:
    """Raise CardNameError if `name` cannot be the name of a card."""
    if not name:
        raise CardNameError("a card name is empty")
    if len(name) > LONGEST_NAME:
        raise CardNameError(f"the card name <{show(name)}> has more than {LONGEST_NAME} characters")
    if name != name.strip():
        raise CardNameError(f"the card name <{show(name)}> begins or ends with a space")
    if not name.isprintable():
        raise CardNameError(f"the card name <{show(name)}> has control characters")
    if "|" in name:
        raise CardNameError(f"<{show(name)}> is a choice of cards, not one card")
    if not is_card(name):
        # Such a row would be charged beside the real dimension: unlimited, or on top.
        raise CardNameError(f"<{name}> is no card; a queue limits it in spec.capability")


def can_exist(name: str) -> bool:
    """Whether some node could have a card of this name. Call `check_name` on the name first."""
    product, slash, part = name.partition("/")
    return bool(_PRODUCT.fullmatch(product) and (not slash or _PART.fullmatch(part)))


def read_alternatives(text: str) -> tuple[str, ...]:
    """The cards of `A|B|C` in the user's order, trimmed, without duplicates (P2).

    Raises CardNameError.
    """
    return _kept(text) if len(text) <= _LONGEST_KEPT else _read(text)


def _read(text: str) -> tuple[str, ...]:
    if not text.strip():
        raise CardNameError("it is empty")
    names: dict[str, None] = {}
    for part in text.split("|"):
        name = part.strip()
        if not name:
            raise CardNameError(f"<{show(text)}> has an empty alternative")
        check_name(name)
        names[name] = None
    return tuple(names)


_kept = lru_cache(maxsize=1024)(_read)  # of short texts alone

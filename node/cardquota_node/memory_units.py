"""In which unit the memory of a node's cards is offered: a device ID stands for one of it."""

from collections.abc import Sequence
from enum import StrEnum
from typing import Final

from cardquota.quota.cards import SharedUnit

from .inventory import InventoryError, NodeCard

MOST_IDS: Final = 40_000
"""Device IDs of a node: the kubelet reads a list of at most 4 MiB."""
QUICK_IDS: Final = 8_000
"""Measured with kubelet 1.36: with 10,000 of 16,000 IDs held it takes 11 s to act on a card that
turns sick, with 35,000 of 40,000 a minute; an ID of a container has 54 bytes in its pod's status.
"""
_MIB_PER_GIB: Final = 1024


class UnitSetting(StrEnum):
    """The unit that is asked for. `auto`: MiB, or GiB where these would be too many IDs."""

    AUTO = "auto"
    MIB = "MiB"
    GIB = "GiB"


def unit_of(cards: Sequence[NodeCard], wanted: UnitSetting) -> SharedUnit:
    """The unit of all cards of a node. Raises InventoryError if it makes too many IDs."""
    units = list(SharedUnit) if wanted is UnitSetting.AUTO else [SharedUnit(wanted)]
    for unit in units:
        if sum(size_in(unit, card) for card in cards) <= MOST_IDS:
            small = next((card for card in cards if size_in(unit, card) == 0), None)
            if small is not None:
                raise InventoryError(
                    f"card <{small.index}> has <{small.memory}> MiB, less than a {unit}, which is "
                    "the unit of this node"
                )
            return unit
    found = sum(size_in(units[-1], card) for card in cards)
    raise InventoryError(
        f"<{len(cards)}> cards have <{found}> {units[-1]} in all, and the kubelet takes at most "
        f"<{MOST_IDS}> of them: set memory.unit to auto"
    )


def size_in(unit: SharedUnit, card: NodeCard) -> int:
    """A card's memory in whole units, rounded down."""
    return card.memory if unit is SharedUnit.MIB else card.memory // _MIB_PER_GIB

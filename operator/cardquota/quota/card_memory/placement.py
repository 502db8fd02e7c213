"""Which card of its node a pod holds, as its annotations say.

Written by us with the Binding; the node's device plugin reads it when the pod starts.
"""

import re
from typing import Final, NamedTuple

from .. import vocabulary as v
from ..words import show

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

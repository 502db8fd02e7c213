"""`Gt` and `Lt` of node affinity and of tolerations, as the scheduler compares."""

import re
from collections.abc import Sequence
from typing import Final

_WHOLE: Final = re.compile(r"([+-]?)(?=[0-9])0*+([0-9]{0,19}+)", re.ASCII)
"""Possessive: it never backtracks on a text that is no number."""
_SHORT: Final = 19
"""A number with this many digits may be too large."""
_LARGEST: Final = 2**63 - 1


def compares(operator: str, of_node: str, of_pod: str) -> bool:
    """Whether the node's value is above (`Gt`) or below (`Lt`) the pod's.

    Both must be whole decimal numbers of 64 bits; anything else compares as false.
    """
    node, pod = whole_number(of_node), whole_number(of_pod)
    if node is None or pod is None:
        return False
    return node > pod if operator == "Gt" else node < pod


def bound_of(values: Sequence[str] | None) -> int | None:
    """The number that a requirement of node affinity compares with. None: nothing meets it.

    A term holds only if there is exactly one value and it is a number.
    """
    return whole_number(values[0]) if values and len(values) == 1 else None


def whole_number(text: str) -> int | None:
    """The whole number of 64 bits that a text stands for; None if it is none."""
    if len(text) < _SHORT and text.isascii() and text.isdigit():
        return int(text)  # nearly all texts; takes a third of the time
    found = _WHOLE.fullmatch(text)
    if found is None:
        return None
    number = int(found[1] + (found[2] or "0"))
    return number if -_LARGEST - 1 <= number <= _LARGEST else None

"""`Gt` and `Lt` of node affinity and of tolerations, as the scheduler compares."""

import re
from collections.abc import Sequence
from typing import Final

_WHOLE: Final = re.compile(r"([+-]?)(?=[0-9])0*+([0-9]{0,19}+)", re.ASCII)
"""Possessive: of a text that is none, nothing is tried twice."""
_SHORT: Final = 19
"""So many digits may be too large a number."""
_LARGEST: Final = 2**63 - 1


def compares(operator: str, of_node: str, of_pod: str) -> bool:
    """Whether the node's value is above (`Gt`) or below (`Lt`) the pod's.

    Both are whole numbers of 64 bits in decimal digits; what is none compares as false.
    """
    node, pod = whole_number(of_node), whole_number(of_pod)
    if node is None or pod is None:
        return False
    return node > pod if operator == "Gt" else node < pod


def bound_of(values: Sequence[str] | None) -> int | None:
    """What a requirement of node affinity with these values compares with; None: nothing meets it.

    It is one number: with another count of values, or with none that is one, no term holds.
    """
    return whole_number(values[0]) if values and len(values) == 1 else None


def whole_number(text: str) -> int | None:
    """The number that a label's value, or what it is compared with, stands for; None if none."""
    if len(text) < _SHORT and text.isascii() and text.isdigit():
        return int(text)  # nearly all: a third of the time
    found = _WHOLE.fullmatch(text)
    if found is None:
        return None
    number = int(found[1] + (found[2] or "0"))
    return number if -_LARGEST - 1 <= number <= _LARGEST else None

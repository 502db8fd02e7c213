"""Amounts by dimension: what is counted, in which unit, and in which form it is kept (section 1).

A *dimension* is a card name, `cpu` or `memory`, and nothing else. It is no resource name: what
nodes and pods say by those is read into dimensions first (`Devices`).

Amounts are whole numbers: cards, milli-cores of `cpu`, bytes of `memory`. What is not named is
zero, unless a limit is meant: there it is not limited, if it is no card (Q1, Q2).
"""

import re
from collections.abc import Hashable, Iterable, Mapping
from functools import lru_cache
from typing import Final, TypeVar

from .vocabulary import COMPUTE_RESOURCES

K = TypeVar("K", bound=Hashable)

Amounts = Mapping[str, int]
"""How much of each dimension, to be read: cards, milli-cores or bytes."""
MutableAmounts = dict[str, int]
"""The same, for who adds it up or keeps it. A zero may stand in it."""
NO_AMOUNTS: Final[Amounts] = {}

Amount = tuple[str, int]
"""One dimension, and how much of it."""
Charge = tuple[Amount, ...]
"""Amounts that do not change any more: what a pod or a reservation holds. Each dimension stands
there once. Small and hashable; two that `canonical` made are equal if their amounts are. Others
may have a zero (a stamp that somebody else wrote), or stand in another order.
"""

Devices = tuple[tuple[str, int], ...]
"""How many of each extended resource a pod asks for, by resource name; sorted, without zeros. These
are no amounts yet: which card `nvidia.com/gpu` counts, the pod or its node says.
"""


def is_card(dimension: str) -> bool:
    """Whether a dimension is a card; of any text whether it could be a card's name, as neither
    `cpu` nor `memory` is (Q2).

    Not to be asked of a resource name: `pods` would be a card.
    """
    return dimension not in COMPUTE_RESOURCES


def canonical(amounts: Amounts) -> Charge:
    """Amounts sorted by dimension, zeros left out."""
    return tuple(sorted((name, amount) for name, amount in amounts.items() if amount))


def add_amounts(amounts: MutableAmounts, more: Iterable[Amount]) -> None:
    """Add amounts to others."""
    for dimension, amount in more:
        amounts[dimension] = amounts.get(dimension, 0) + amount


def add_to(counts: dict[K, int], key: K, amount: int) -> None:
    """Add to what stands under a key, in its place. What becomes zero is taken out."""
    total = counts.get(key, 0) + amount
    if total:
        counts[key] = total
    else:
        counts.pop(key, None)


_FORM: Final = re.compile(
    r"([+-]?)(\d*)(?:\.(\d*))?(?:([eE])([+-]?\d{1,4})|(Ki|Mi|Gi|Ti|Pi|Ei|[numkMGTPE])?)",
    re.ASCII,
)
_DECIMAL: Final = {
    "n": -9,
    "u": -6,
    "m": -3,
    "": 0,
    "k": 3,
    "M": 6,
    "G": 9,
    "T": 12,
    "P": 15,
    "E": 18,
}
_BINARY: Final = {"Ki": 10, "Mi": 20, "Gi": 30, "Ti": 40, "Pi": 50, "Ei": 60}
_LONGEST: Final = 64
LARGEST: Final = 2**63 - 1
"""The largest amount of Kubernetes itself. A larger amount is refused, never cut."""

Quantity = str | int | float
"""A quantity as it appears in JSON or YAML."""


class QuantityError(ValueError):
    """The text is not a quantity, or not one that can be counted exactly."""


def _parse(text: str, scale: int, largest: int = LARGEST) -> tuple[int, bool]:
    """The amount times 10**scale, rounded up, and whether it was exact."""
    if len(text) > _LONGEST:
        raise QuantityError(f"<{_short(text)}> is not a quantity")
    return _parse_short(text, scale, largest)


@lru_cache(maxsize=4096)  # of short texts alone
def _parse_short(text: str, scale: int, largest: int) -> tuple[int, bool]:
    match = _FORM.fullmatch(text)
    if match is None or not (match[2] or match[3]):
        raise QuantityError(f"<{_short(text)}> is not a quantity")
    sign, whole, fraction, exponential, exponent, suffix = match.groups()
    digits = int((whole or "") + (fraction or "") or "0")
    power = scale - len(fraction or "")
    if exponential:
        power += int(exponent)
    elif suffix in _BINARY:
        digits <<= _BINARY[suffix]
    else:
        power += _DECIMAL[suffix or ""]
    if digits == 0:
        return 0, True
    if power > _LONGEST:
        raise QuantityError(f"<{_short(text)}> is more than can be counted")
    if power >= 0:
        amount, rest = digits * 10**power, 0
    else:
        amount, rest = divmod(digits, 10**-power)
    amount += 1 if rest else 0
    if amount > largest:
        raise QuantityError(f"<{_short(text)}> is more than can be counted")
    return (-amount if sign == "-" else amount), not rest


def _short(text: str) -> str:
    return text if len(text) <= _LONGEST else text[:_LONGEST] + "..."


def _text(value: Quantity) -> str:
    if isinstance(value, bool):
        raise QuantityError(f"<{value}> is not a quantity")
    return value.strip() if isinstance(value, str) else str(value)


def milli(value: Quantity) -> int:
    """CPU in milli-cores, rounded up. Raises QuantityError."""
    return _parse(_text(value), 3)[0]


def whole(value: Quantity) -> int:
    """Memory in bytes, rounded up as Kubernetes does. Raises QuantityError."""
    return _parse(_text(value), 0)[0]


def milli_bytes(value: Quantity) -> int:
    """Memory in thousandths of a byte, rounded up: the precision of the API server. Amounts are
    added up in this unit before they are rounded to bytes. Raises QuantityError.
    """
    return _parse(_text(value), 3, LARGEST * 1000)[0]


def count(value: Quantity) -> int:
    """A number of devices. A fraction is an error and is not rounded (P4). Raises QuantityError."""
    amount, exact = _parse(_text(value), 0)
    if not exact:
        raise QuantityError(f"<{_text(value)}> is not a whole number")
    return amount


def cpu_quantity(milli_cores: int) -> str:
    """Milli-cores as a Kubernetes quantity in canonical form: `4`, `1500m`."""
    cores, rest = divmod(milli_cores, 1000)
    return f"{milli_cores}m" if rest else str(cores)


def memory_quantity(size: int) -> str:
    """Bytes as a Kubernetes quantity in canonical binary form: `4Gi`, `1536Mi`, `1000`."""
    if size == 0:
        return "0"
    for shift, name in ((60, "Ei"), (50, "Pi"), (40, "Ti"), (30, "Gi"), (20, "Mi"), (10, "Ki")):
        if size % (1 << shift) == 0:
            return f"{size >> shift}{name}"
    return str(size)

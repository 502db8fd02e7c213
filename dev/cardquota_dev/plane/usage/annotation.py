"""The annotation that says what a pod uses."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from cardquota.quota.amounts import QuantityError, milli, whole

ANNOTATION: Final = "cardquota.dev/usage"
"""On a pod, or on a namespace for all its pods: `{"cpu": "500m", "requests_per_second": "20"}`."""

CPU: Final = "cpu"
MEMORY: Final = "memory"

_LONGEST: Final = 64


class UsageError(ValueError):
    """The annotation cannot be read. The text says why."""


@dataclass(frozen=True)
class StatedUsage:
    """What one annotation says. None and absent names: it does not say."""

    cpu: int | None = None
    """Thousandths of a core."""
    memory: int | None = None
    """Bytes."""
    custom: Mapping[str, int] = field(default_factory=dict)
    """Thousandths, by the metric's name."""

    def or_else(self, other: "StatedUsage") -> "StatedUsage":
        """The same, and what it does not say taken from the other one."""
        return StatedUsage(
            cpu=other.cpu if self.cpu is None else self.cpu,
            memory=other.memory if self.memory is None else self.memory,
            custom={**other.custom, **self.custom},
        )


def read_usage(text: str) -> StatedUsage:
    """The content of an annotation, all of it or nothing.

    Amounts are quantities, as JSON texts or numbers, and are rounded up to the units of
    `StatedUsage`. Raises UsageError, also for an amount below zero.
    """
    try:
        stored = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise UsageError(f"no JSON: {error}") from error
    if not isinstance(stored, dict):
        raise UsageError("no JSON object")
    amounts = {name: _amount(name, value) for name, value in stored.items()}
    cpu, memory = amounts.pop(CPU, None), amounts.pop(MEMORY, None)
    return StatedUsage(cpu, memory, amounts)


def _amount(name: str, value: object) -> int:
    if not isinstance(value, str | int | float):
        raise UsageError(f"<{_short(name)}> is not a quantity")
    try:
        amount = whole(value) if name == MEMORY else milli(value)
    except QuantityError as error:
        raise UsageError(f"<{_short(name)}>: {error}") from error
    if amount < 0:
        raise UsageError(f"<{_short(name)}> is less than zero")
    return amount


def _short(name: str) -> str:
    return name if len(name) <= _LONGEST else f"{name[:_LONGEST]}..."

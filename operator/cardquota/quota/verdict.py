"""The answer of the ledger to one question. Its text is the message, everywhere."""

from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple

from .amounts import Charge
from .vocabulary import Reason


class Outcome(StrEnum):
    """The kind of answer. `effect` says what admission does with it."""

    FITS = "fits"
    WAITS = "waits"
    """Over quota now, but could fit later."""
    NEVER = "never"
    """Cannot fit whatever is freed (E5)."""
    UNSEEN = "unseen"
    """An object that the pod names has not been seen yet: the pod waits at the gate."""
    UNMANAGED = "unmanaged"
    """No queue: admitted, and counted outside every queue."""


@dataclass(slots=True, frozen=True)
class Shortfall:
    """One dimension that does not fit. Cards, milli-cores or bytes."""

    dimension: str
    requested: int
    would_be: int
    capability: int
    leaving: int = 0
    """What of `would_be` pods hold that are being deleted (T4). 0 also where nobody has asked."""

    @property
    def fits_soon(self) -> bool:
        """Whether it fits once the pods that are being deleted are gone."""
        return self.would_be - self.leaving <= self.capability

    @property
    def never(self) -> bool:
        """Whether the request alone is over the quota."""
        return self.requested > self.capability


class Growth(NamedTuple):
    """What of a pod grows in place: cpu or memory, in milli-cores or bytes."""

    dimension: str
    before: int
    after: int


class HeldBy(NamedTuple):
    """Who holds one card of a queue, as somebody of one namespace may know it."""

    card: str
    workloads: tuple[tuple[str, int], ...]
    """Of that namespace: those that hold most, with the cards that each holds."""
    more: int = 0
    """How many other workloads of that namespace hold some."""
    by_more: int = 0
    """Cards that these hold."""
    elsewhere: int = 0
    """Cards that pods of other namespaces hold."""
    reserved: int = 0
    """Cards that are kept for pods of other groups (T2)."""

    def naming(self, most: int) -> "HeldBy":
        """The same, with so many workloads named at most: the others are counted."""
        others = self.workloads[most:]
        return self._replace(
            workloads=self.workloads[:most],
            more=self.more + len(others),
            by_more=self.by_more + sum(amount for _, amount in others),
        )


class Verdict(NamedTuple):
    """Allowed or not, and if not, why, in numbers and in words.

    `queue` is empty for a pod that belongs to none. `cards`: the alternative that
    would be charged. `text` is empty if there is nothing to say.
    """

    outcome: Outcome
    queue: str = ""
    reason: Reason | None = None
    text: str = ""
    shortfalls: tuple[Shortfall, ...] = ()
    cards: Charge = ()
    warnings: tuple[str, ...] = ()
    borrows: bool = False
    """Whether it fits only by what its queue lends to rolling updates (R6)."""

    @property
    def fits(self) -> bool:
        """Whether the request fits now."""
        return self.outcome is Outcome.FITS

"""Pods of one queue that are let through or bound although we did not open their gate (I3)."""

from collections.abc import Iterator

from ..amounts import Charge, MutableAmounts


class UnadmittedPods:
    """Their uids, and what they hold together. Reading the sum costs no step for each pod."""

    __slots__ = ("_charges", "held")

    def __init__(self) -> None:
        self._charges: dict[str, Charge] = {}
        self.held: MutableAmounts = {}
        """By dimension. No zeros."""

    def add(self, uid: str, charge: Charge) -> None:
        """Add a pod that is not among them."""
        self._charges[uid] = charge
        self._count(charge, 1)

    def discard(self, uid: str) -> None:
        """Remove a pod, if it is among them."""
        charge = self._charges.pop(uid, None)
        if charge is not None:
            self._count(charge, -1)

    def __len__(self) -> int:
        return len(self._charges)

    def __iter__(self) -> Iterator[str]:
        return iter(self._charges)

    def _count(self, charge: Charge, sign: int) -> None:
        for dimension, amount in charge:
            left = self.held.get(dimension, 0) + sign * amount
            if left:
                self.held[dimension] = left
            else:
                self.held.pop(dimension, None)

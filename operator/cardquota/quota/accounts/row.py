"""The counters of one dimension of a queue (section 6)."""

from typing import Final

from ..pods.charge_state import ChargeState

# To ask an enum for a member by name is a call, and totals are asked for with every review.
_ALLOCATED: Final = ChargeState.ALLOCATED
_RELEASED: Final = ChargeState.RELEASED
_GATED_DENY: Final = ChargeState.GATED_DENY
_GATED_GATE: Final = ChargeState.GATED_GATE


class Row:
    """The counters of one dimension. `elastic` and `offline` are parts of allocated."""

    __slots__ = ("by_charge_state", "elastic", "leaving", "offline", "reserved")

    def __init__(self) -> None:
        self.by_charge_state = [0, 0, 0, 0]
        self.reserved = 0
        self.elastic = 0
        self.offline = 0
        """What pods hold whose own policy is Gate, whatever that of the queue is."""
        self.leaving = 0
        """The part of `charged` that is free once the pods that are being deleted are gone (T4)."""

    @property
    def allocated(self) -> int:
        """Bound and not finished."""
        return self.by_charge_state[_ALLOCATED]

    @property
    def inqueue(self) -> int:
        """Let through but not bound, and what groups still reserve."""
        return self.by_charge_state[_RELEASED] + self.reserved

    @property
    def charged(self) -> int:
        """Allocated and inqueue: what counts against the quota (E2)."""
        states = self.by_charge_state
        return states[_ALLOCATED] + states[_RELEASED] + self.reserved

    @property
    def overcharged(self) -> int:
        """What must be within the quota: all that is charged, but for reservations as far as they
        may stand over what is elastic (I1).
        """
        return self.charged - min(self.reserved, self.elastic)

    @property
    def requested(self) -> int:
        """All that are not finished, gated ones included."""
        return sum(self.by_charge_state)

    @property
    def waiting(self) -> int:
        """Of those at the gate."""
        states = self.by_charge_state
        return states[_GATED_DENY] + states[_GATED_GATE]

    @property
    def empty(self) -> bool:
        """Whether nothing is counted here."""
        parts = self.reserved or self.elastic or self.offline or self.leaving
        return not (any(self.by_charge_state) or parts)

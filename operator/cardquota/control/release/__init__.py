"""What the leader does with gates: opens them, gang by gang, and keeps its writes correct.

In: the ledger, a term, and writers that respect it. Out: `GateReleaser`. Every await comes after
the charge. A charge is taken back only if the gate certainly stays shut.
"""

from .gate import GateOpener, Opened, gate_patch
from .gate_releaser import GateReleaser
from .gate_reports import GateReports
from .namespace_circuit_breaker import NamespaceCircuitBreaker
from .retries import Retries
from .slots import Slot, SlotClaim, Slots
from .stamp_writer import StampWriter
from .wait_reports import AT_ONCE, PER_SECOND, WaitReports

__all__ = [
    "AT_ONCE",
    "PER_SECOND",
    "GateOpener",
    "GateReleaser",
    "GateReports",
    "NamespaceCircuitBreaker",
    "Opened",
    "Retries",
    "Slot",
    "SlotClaim",
    "Slots",
    "StampWriter",
    "WaitReports",
    "gate_patch",
]

"""What the leader does with gates: opens them, gang by gang, and keeps its writes correct.

In: the ledger, a term, and writers that respect it. Out: `GateReleaser`. Every await comes after
the charge. A charge is taken back only if the gate certainly stays shut. Of a pod group that comes
to its reservation, phase and condition as the API server has them, and gates that open together.
"""

from .gang_start import GangStart
from .gate import Chosen, GateAttempts, GateOpener, Opened, Writers, gate_patch
from .gate_releaser import GateReleaser
from .group_conditions import MOMENT, GroupConditions, QuotaConditions
from .group_releases import HELD, LAST, ReservationTimeouts, UnusedReservations
from .pacing import NamespaceCircuitBreaker, Retries, Slot, SlotClaim, Slots
from .pod_group_writer import PodGroupWriter
from .wait_reports import AT_ONCE, PER_SECOND, GangReports, WaitReports

"""Pod groups at the gate: enqueued, started whole, given up in time, and what is written on them.

In: what was decided on a group, and charged. Out: its reservation, phase and condition as the API
server has them, and gates that open together.
"""

from .gang_reports import GangReports
from .gang_start import Chosen, GangStart
from .group_conditions import MOMENT, GroupConditions
from .pod_group_writer import PodGroupWriter
from .quota_conditions import QuotaConditions
from .reservation_timeouts import ReservationTimeouts
from .unused_reservations import HELD, LAST, UnusedReservations

__all__ = [
    "HELD",
    "LAST",
    "MOMENT",
    "Chosen",
    "GangReports",
    "GangStart",
    "GroupConditions",
    "PodGroupWriter",
    "QuotaConditions",
    "ReservationTimeouts",
    "UnusedReservations",
]

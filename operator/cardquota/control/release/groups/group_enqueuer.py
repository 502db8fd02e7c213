"""Groups are enqueued before their pods are there: what they ask for is reserved (E1, T2)."""

from collections.abc import Callable, Coroutine
from functools import partial
from typing import Any

from ....quota.ledger.groups.pod_group_state import PodGroupState
from ....quota.ledger.ledger import Ledger
from ....quota.release.release_judge import Opening
from ....quota.stamp import Reservation
from ..retries import Retries
from ..slots import Slot, Slots
from .gang_reports import GangReports
from .pod_group_writer import PodGroupWriter
from .reservation_timeouts import ReservationTimeouts


class GroupEnqueuer:
    """Reserves for groups under one term, each in a slot of its own. Belongs to the ledger's loop.

    A group whose reservation could not be written holds nothing, and is tried again later.
    """

    def __init__(
        self,
        ledger: Ledger,
        groups: PodGroupWriter,
        timeouts: ReservationTimeouts,
        reports: GangReports,
        slots: Slots,
        retries: Retries[tuple[str, str]],
        *,
        term: str,
        start: Callable[[Coroutine[Any, Any, object]], object],
    ) -> None:
        """`retries`: of gangs, by queue and key. `start` runs something beside what decides."""
        self._ledger = ledger
        self._groups = groups
        self._timeouts = timeouts
        self._reports = reports
        self._slots = slots
        self._retries = retries
        self._term = term
        self._start = start

    def enqueue(self, group: PodGroupState, opening: Opening) -> None:
        """Charge what the group asks for, as just judged, then write its reservation."""
        self._timeouts.look(group.key, group)
        reservation = self._ledger.decisions.enqueue(
            group.key, opening.queue, self._term, opening.asked
        )
        namespace, _, _ = group.key.partition("/")
        self._start(self._write(group, reservation, self._slots.take(namespace)))

    async def _write(self, group: PodGroupState, reservation: Reservation, slot: Slot) -> None:
        key, facts, written = group.key, group.facts, False
        try:
            written = facts is not None and await self._groups.reserve(
                facts,
                reservation,
                unsure=partial(self._reports.unsure, group, reservation),
                objected=partial(self._reports.not_enqueued, group),
            )
        finally:
            self._slots.give_back(slot, worked=None)
        if written:
            self._retries.worked((reservation.queue, key))
            self._reports.enqueued(group, reservation)
            return
        self._ledger.decisions.retract_reservation(key, reservation)
        self._ledger.decisions.hold_back_gang(key)
        self._retries.failed((reservation.queue, key))


def waits_for_room(ledger: Ledger, key: str) -> bool:
    """Whether a group was enqueued and its pods have come, and they wait for what is elastic (E8).

    Where there is enough, something else is wrong with them: it must not hold that for ever.
    """
    group = ledger.groups.get(key)
    if group is None or not group.enqueued or not group.complete:
        return False
    reservation = group.reservation
    account = ledger.account(reservation.queue) if reservation is not None else None
    if reservation is None or account is None:
        return False
    return account.overcommitted(dimension for dimension, _ in reservation.amounts)

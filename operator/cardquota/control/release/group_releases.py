"""Pod groups at the gate, in one term: reserved for, started whole, and given up in time.

A group is enqueued before its pods are there, where it says what they will ask for (E1), or starts
with those that are. What it needs is charged first, and then written ahead (T2).
"""

from collections.abc import Callable, Coroutine, Iterator
from functools import partial
from typing import Any, Final

from ...cluster.events import EventRecorder
from ...loop.time_slice import Later
from ...quota.ledger.groups.group_facts import GroupFacts
from ...quota.ledger.groups.pod_group_state import PodGroupState
from ...quota.ledger.groups.stored_group import StoredCondition
from ...quota.ledger.ledger import Ledger
from ...quota.release.release_judge import Opening
from ...quota.stamp import Reservation
from ...settings import Settings
from .gang_reports import GangReports
from .gang_start import GangStart, Members
from .gate import GateAttempts, Writers
from .group_conditions import GroupConditions, QuotaConditions
from .pacing import Retries, Slot, Start
from .pod_group_writer import PodGroupWriter
from .reservation_timeouts import ReservationTimeouts, UnusedReservations


class GroupReleases:
    """Belongs to the ledger's loop. A group whose reservation could not be written holds nothing,
    and is tried again later.
    """

    def __init__(
        self,
        ledger: Ledger,
        writers: Writers,
        attempts: GateAttempts,
        events: EventRecorder,
        settings: Settings,
        wake: Callable[[], None],
        *,
        term: str,
        later: Later,
    ) -> None:
        """`wake`: have the releaser go on. `later`: ends the time of reservations (E8)."""
        standalone = settings.scheduler == "standalone"
        self._ledger = ledger
        self._attempts = attempts
        self._wake = wake
        self._term = term
        self.conditions: Final = GroupConditions(
            ledger, term=term, stored=_of_ours if standalone else _with_volcano
        )
        self.conditions.listen(self.look_again)
        self.writer: Final = PodGroupWriter(
            ledger,
            writers.deciding(),
            writers.other(),
            conditions=self.conditions if standalone else None,
        )
        self._quota_conditions = (
            None if standalone else QuotaConditions(ledger, writers.other(), self.conditions)
        )
        timeout = settings.reservation_timeout
        self._reports = GangReports(ledger, events, self.conditions, timeout=timeout)
        self._unused = UnusedReservations(ledger, wake, later=later)
        self._timeouts = ReservationTimeouts(
            timeout,
            self._expired,
            waits=partial(_waits_for_room, ledger),
            unused=self._unused.note,
            later=later,
        )
        self._starts = GangStart(ledger, attempts, self.writer, self._timeouts, self._reports)
        self._retries = Retries[tuple[str, str]](self._put_back)
        """Of groups, by queue and key."""

    def look_again(self, key: str) -> None:
        """Have a group brought up to date although nothing new was seen of it."""
        self._ledger.dirty.groups.add(key)
        self._wake()

    # --- what is decided ----------------------------------------------------------------------

    def enqueue(self, opening: Opening, group: PodGroupState) -> None:
        """Charge what the group asks for, as just judged, then write its reservation. Not if it has
        another place by now, or none: then another cycle judges.
        """
        if not self._ledger.reassessment.ask_first(group):
            self._wake()
            return
        self._timeouts.look(group.key, group)
        reservation = self._ledger.decisions.enqueue(
            group.key, opening.queue, self._term, opening.asked
        )
        slot = self._attempts.slots.take(_namespace(group.key))
        self._attempts.start(self._write_ahead(group, reservation, slot))

    def reserve(self, opening: Opening) -> Reservation | None:
        """Charge what a gang needs that starts; None if it needs no reservation."""
        gang = opening.gang
        if gang is None:
            return None
        # It may have none now and then get an equal one, which has a time of its own.
        self._timeouts.look(gang.key, gang)
        return self._ledger.decisions.reserve(gang.key, opening.queue, self._term, opening.asked)

    def start(
        self, gang: PodGroupState, reservation: Reservation, members: Members, since: float
    ) -> None:
        """Start a gang whose reservation is charged. `since`: when there was room."""
        key = gang.key
        self._retries.worked((reservation.queue, key))
        start = self._attempts.breaker.start(_namespace(key))
        work = self._starts.run(gang, reservation, members, since, start)
        self.opening(key, work, start)

    def opening(
        self, group: str, work: Coroutine[Any, Any, object], start: Start | None = None
    ) -> None:
        """Open gates beside what decides. `group`: the key of theirs; empty: none. `start`: of a
        whole gang.
        """
        task = self._attempts.start(work)
        if group:
            begun = self._timeouts.begin(group, start=start is not None)
            task.add_done_callback(lambda _: self._opened(group, begun, start))

    def hold_back(self, queue: str, gang: PodGroupState) -> None:
        """Gates of its namespace do not open: have the gang tried again later."""
        self._ledger.decisions.hold_back_gang(gang.key)
        self._retries.failed((queue, gang.key))
        namespace = _namespace(gang.key)
        self._reports.backed_off(gang, namespace, self._attempts.breaker.failures(namespace))

    # --- what is written on a group -----------------------------------------------------------

    def look_at_end(self, key: str) -> None:
        """If a reservation has ended unused, what it leaves free is not decided on before that is
        known (E8).
        """
        if key in self._timeouts:
            self._timeouts.look(key, self._ledger.groups.get(key))

    async def update(self, key: str) -> bool:
        """Bring a PodGroup up to date. Returns whether nothing is left to do."""
        self._timeouts.look(key, self._ledger.groups.get(key))
        over, opening = self._timeouts.over(key), self._timeouts.opening(key)
        objected = partial(self._reports.not_given_back, key)
        done = await self.writer.update(key, expired=over, opening=opening, objected=objected)
        if self._quota_conditions is None:
            return done
        return await self._quota_conditions.update(key) and done

    # --- the end of the term ------------------------------------------------------------------

    def stop_timers(self) -> None:
        """No reservation expires any more."""
        self._unused.stop()
        self._timeouts.stop()

    def stop(self) -> Iterator[None]:
        """The term is over. Iterate over the result, which forgets what is remembered."""
        self.conditions.stop()
        return self._retries.stop()

    async def _write_ahead(
        self, group: PodGroupState, reservation: Reservation, slot: Slot
    ) -> None:
        key, facts, written = group.key, group.facts, False
        try:
            written = facts is not None and await self.writer.reserve(
                facts,
                reservation,
                unsure=partial(self._reports.unsure, group, reservation),
                objected=partial(self._reports.not_enqueued, group),
            )
        finally:
            self._attempts.slots.give_back(slot, worked=None)
        if written:
            self._retries.worked((reservation.queue, key))
            self._reports.enqueued(group, reservation)
            return
        self._ledger.decisions.retract_reservation(key, reservation)
        self._ledger.decisions.hold_back_gang(key)
        self._retries.failed((reservation.queue, key))

    def _opened(self, group: str, begun: int, start: Start | None) -> None:
        self._timeouts.end(group, begun, start=start is not None)
        if start is not None:
            start.end()
        state = self._ledger.groups.get(group)
        if state is not None and state.reservation is not None:
            self.look_again(group)  # for what was postponed meanwhile

    def _expired(self, key: str) -> None:
        """A gang did not complete in time (E8)."""
        self._reports.expired(key)
        self._ledger.decisions.lose_place(key)
        self.look_again(key)

    def _put_back(self, gang: tuple[str, str]) -> None:
        queue, key = gang
        if key not in self._ledger.groups:
            self._retries.worked(gang)
            return
        self._ledger.decisions.put_back_gang(key, queue)
        self._wake()


def _waits_for_room(ledger: Ledger, key: str) -> bool:
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


def _namespace(group: str) -> str:
    """The namespace in a group's key."""
    return group.partition("/")[0]


def _of_ours(facts: GroupFacts) -> StoredCondition:
    return facts.condition


def _with_volcano(facts: GroupFacts) -> StoredCondition:
    return facts.quota_condition.stored

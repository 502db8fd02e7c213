"""Pod groups at the gate, in one term: reserved for, started whole, and given up in time.

A group is enqueued before its pods are there, where it says what they will ask for (E1), or starts
with those that are. What it needs is charged first, and then written ahead (T2).
"""

import logging
from collections import Counter
from collections.abc import Callable, Coroutine, Iterator
from dataclasses import dataclass, field
from functools import partial
from operator import attrgetter
from typing import Any, Final

from ...cluster.events import EventRecorder
from ...loop.timing import Later, Timer, in_loop_later
from ...quota.ledger.groups.pod_group_state import PodGroupState
from ...quota.ledger.ledger import Ledger
from ...quota.release.release_judge import Opening
from ...quota.stamp import Reservation
from ...quota.words import logged
from ...settings import Settings
from .gang_start import GangStart, Members
from .gate import GateAttempts, Writers
from .group_conditions import GroupConditions, QuotaConditions
from .pacing import Retries, Slot, Start
from .pod_group_writer import PodGroupWriter
from .wait_reports import GangReports

_LOG = logging.getLogger(__name__)


@dataclass(slots=True)
class _Running:
    uid: str
    reservation: Reservation
    timer: Timer | None
    """None while the gang is being started: its time has not begun."""
    over: bool = False
    notified: bool = False
    moved: bool = False
    """Whether the group has another queue than the reservation."""
    written: bool = False
    """Whether it is known to be stored."""
    waits_for: set[int] = field(default_factory=set)
    """Openings that had begun when it was over, or earlier, when the group moved."""


class ReservationTimeouts:
    """Gives back reservations whose gang does not complete in time (E8), and those of groups that
    were enqueued and whose pods do not come in time. One timer for each. Belongs to the ledger's
    loop.

    Time counts from the end of the gang's start, when its gates are open. For a reservation that
    this leader did not start, it counts from when this leader first saw it: clocks of two machines
    are never compared. Openings under way when the time was over, or when the group got another
    queue, were decided on the reservation; it is given back only after them. Later openings are not
    awaited: there may always be one, and by then each is charged by itself.
    """

    def __init__(
        self,
        timeout: float,
        expired: Callable[[str], None],
        *,
        waits: Callable[[str], bool] = lambda _: False,
        unused: Callable[[str, str], None] = lambda _, __: None,
        later: Later = in_loop_later,
    ) -> None:
        """`timeout`: seconds. `expired` is called with the group's key, once per reservation.

        `waits`: whether a group's pods are all there and wait for room. Then its time begins anew.
        `unused`: is called with queue and namespace when a stored reservation of a group that was
        enqueued has ended, and none of its pods was released.
        `later` calls a function after a number of seconds.
        """
        self._timeout = timeout
        self._waits = waits
        self._expired = expired
        self._unused = unused
        self._later = later
        self._running: dict[str, _Running] = {}
        self._opening: dict[str, set[int]] = {}
        """By group whose gates are being opened: the numbers of the tasks that do it."""
        self._begun = 0
        self._starting: Counter[str] = Counter()
        """By group whose gang is being started: how many of these tasks start it."""
        self._stopped = False

    def __len__(self) -> int:
        return len(self._running)

    def __contains__(self, key: str) -> bool:
        """Whether a group had a reservation when it was last looked at."""
        return key in self._running

    def look(self, key: str, group: PodGroupState | None) -> None:
        """A group was created, changed or deleted, or is about to be started."""
        if self._stopped:
            return
        facts = group.facts if group is not None else None
        reservation = group.reservation if group is not None else None
        running = self._running.get(key)
        if running is not None:
            if facts is not None and (running.uid, running.reservation) == (facts.uid, reservation):
                running.written = running.written or _is_written(group)
                self._look_where(key, running, moved=group is not None and group.reserved_elsewhere)
                return
            if running.timer is not None:
                running.timer.cancel()
            del self._running[key]
            begun = group is not None and group.released > 0
            if running.written and running.reservation.request and not begun:
                self._unused(running.reservation.queue, key.partition("/")[0])
        if facts is not None and reservation is not None:
            timer = None if key in self._starting else self._timer(key)
            running = self._running[key] = _Running(facts.uid, reservation, timer)
            running.written = _is_written(group)
            self._look_where(key, running, moved=group is not None and group.reserved_elsewhere)

    def over(self, key: str) -> bool:
        """Whether the time of a group's present reservation is over, so that it must be removed."""
        running = self._running.get(key)
        return running is not None and running.over and not running.waits_for

    def opening(self, key: str) -> bool:
        """Whether gates of a group are still being opened, or are not settled, that were judged
        with its present reservation, which is over or in another queue.
        """
        running = self._running.get(key)
        return running is not None and bool(running.waits_for)

    def begin(self, key: str, *, start: bool = False) -> int:
        """Gates of a group are about to be opened. Pass the result to `end`.

        `start`: a gang starts. The time of its reservation begins when that ends.
        """
        self._begun += 1
        self._opening.setdefault(key, set()).add(self._begun)
        if start:
            self._starting[key] += 1
        return self._begun

    def end(self, key: str, begun: int, *, start: bool = False) -> None:
        """The opening has ended. A reservation whose time ended meanwhile expires now.

        `start`: as passed to `begin`. Does nothing after `stop`.
        """
        if self._stopped:
            return
        opening = self._opening[key]
        opening.discard(begun)
        if not opening:
            del self._opening[key]
        running = self._running.get(key)
        if running is not None:
            running.waits_for.discard(begun)
        if start:
            self._starting[key] -= 1
            if not self._starting[key]:
                del self._starting[key]
            self._begin_anew(key)
        self._expire(key)

    def give_up(self, key: str, group: PodGroupState) -> None:
        """Nothing of the gang could be started: do not wait until its time is over."""
        self.look(key, group)
        running = self._running.get(key)
        if running is not None:
            running.notified = True
            self._is_over(key, running)

    def stop(self) -> None:
        """The term is over: nothing expires any more."""
        self._stopped = True
        for running in self._running.values():
            if running.timer is not None:
                running.timer.cancel()
        self._running.clear()

    def _begin_anew(self, key: str) -> None:
        """Restart the time of a group's reservation, unless it is over or the gang is starting."""
        running = self._running.get(key)
        if running is None or running.over or key in self._starting:
            return
        if running.timer is not None:
            running.timer.cancel()
        running.timer = self._timer(key)

    def _timer(self, key: str) -> Timer:
        return self._later(self._timeout, partial(self._fire, key))

    def _fire(self, key: str) -> None:
        if self._waits(key):
            self._running[key].timer = self._timer(key)
            return
        self._is_over(key, self._running[key])
        self._expire(key)

    def _is_over(self, key: str, running: _Running) -> None:
        if not running.over:
            running.over = True
            running.waits_for = set(self._opening.get(key, ()))

    def _look_where(self, key: str, running: _Running, *, moved: bool) -> None:
        """A group that moves to and fro does not extend a time that is over."""
        if moved == running.moved:
            return
        running.moved = moved
        if not running.over:
            running.waits_for = set(self._opening.get(key, ())) if moved else set()

    def _expire(self, key: str) -> None:
        running = self._running.get(key)
        if running is not None and self.over(key) and not running.notified:
            running.notified = True
            self._expired(key)


def _is_written(group: PodGroupState | None) -> bool:
    return group is not None and group.reservation not in group.unwritten


HELD: Final = 5.0
"""Seconds for which nothing is reserved there at all. Workloads whose pods were refused stand in no
order: they are woken meanwhile, and make their pods."""
LAST: Final = 1_800.0
"""Seconds after the last such end in which groups of the namespace go after all others."""
MOST: Final = 1_000
"""Pairs of queue and namespace that are remembered. Then the oldest is forgotten."""


class UnusedReservations:
    """Belongs to the ledger's loop, for one term."""

    def __init__(
        self, ledger: Ledger, wake: Callable[[], None], *, later: Later = in_loop_later
    ) -> None:
        """`wake`: is called when something may be reserved again."""
        self._ledger = ledger
        self._wake = wake
        self._later = later
        self._timers: dict[tuple[str, str], Timer] = {}

    def note(self, queue: str, namespace: str) -> None:
        """A reservation in this queue for a group of this namespace has ended unused."""
        key = queue, namespace
        if self._ledger.last.get(key):
            return  # held already: its next groups have their chance all the same
        if key not in self._timers:
            _LOG.info(
                "a reservation in queue %s of namespace %s ended unused: others go first for %d s",
                logged(queue),
                logged(namespace),
                LAST,
            )
        self._forget(key)
        if len(self._timers) >= MOST:
            self._end(next(iter(self._timers)))
        self._ledger.put_last(queue, namespace, held=True)
        self._timers[key] = self._later(HELD, partial(self._may_ask, key))

    def stop(self) -> None:
        """The term is over: all have their places again."""
        for key in list(self._timers):
            self._end(key)

    def _may_ask(self, key: tuple[str, str]) -> None:
        self._ledger.put_last(*key, held=False)
        self._timers[key] = self._later(LAST, partial(self._end, key))
        self._wake()

    def _end(self, key: tuple[str, str]) -> None:
        self._forget(key)
        self._ledger.put_last(*key, held=None)
        self._wake()

    def _forget(self, key: tuple[str, str]) -> None:
        timer = self._timers.pop(key, None)
        if timer is not None:
            timer.cancel()


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
            ledger,
            term=term,
            stored=attrgetter("condition" if standalone else "quota_condition.stored"),
            look_again=self.look_again,
        )
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
        self._starts = GangStart(
            ledger, attempts, self.writer, self._timeouts.give_up, self._reports
        )
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

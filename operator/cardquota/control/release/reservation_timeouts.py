"""Reservations whose gang does not complete in time are given back (E8).

Time counts from the end of the gang's start, when its gates are open; of a reservation that this
leader did not start, from when it first saw it: no clocks of two machines are compared, so a new
leader begins anew. What was on its way when the time was over, or when the group got another queue,
was decided on the reservation, and is awaited before that is given back. What begins later is not:
there may always be something, and it is charged for itself by then.
"""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial

from ...quota.ledger.pod_group_state import PodGroupState
from ...quota.stamp import Reservation
from ..later import Later, Timer, in_loop_later


@dataclass(slots=True)
class _Running:
    uid: str
    reservation: Reservation
    timer: Timer | None
    """None while the gang is being started: its time has not begun."""
    over: bool = False
    told: bool = False
    moved: bool = False
    """Whether the group has another queue than the reservation."""
    waits_for: set[int] = field(default_factory=set)
    """Openings that had begun when it was over, or when the group moved before that."""


class ReservationTimeouts:
    """One timer for each group with a reservation. Belongs to the ledger's loop."""

    def __init__(
        self, timeout: float, expired: Callable[[str], None], *, later: Later = in_loop_later
    ) -> None:
        """`timeout`: seconds. `expired` is called with the group's key, once per reservation.

        `later`: calls something after a number of seconds.
        """
        self._timeout = timeout
        self._expired = expired
        self._later = later
        self._running: dict[str, _Running] = {}
        self._opening: dict[str, set[int]] = {}
        """Groups of which gates are being opened: the numbers of the tasks that do that."""
        self._begun = 0
        self._starting: Counter[str] = Counter()
        """Groups whose gang is being started: how many of these tasks do that."""
        self._stopped = False

    def __len__(self) -> int:
        return len(self._running)

    def look(self, key: str, group: PodGroupState | None) -> None:
        """A group was made, changed or deleted, or is about to be started."""
        if self._stopped:
            return
        facts = group.facts if group is not None else None
        reservation = group.reservation if group is not None else None
        running = self._running.get(key)
        if running is not None:
            if facts is not None and (running.uid, running.reservation) == (facts.uid, reservation):
                self._look_where(key, running, moved=group is not None and group.reserved_elsewhere)
                return
            if running.timer is not None:
                running.timer.cancel()
            del self._running[key]
        if facts is not None and reservation is not None:
            timer = None if key in self._starting else self._timer(key)
            running = self._running[key] = _Running(facts.uid, reservation, timer)
            self._look_where(key, running, moved=group is not None and group.reserved_elsewhere)

    def over(self, key: str) -> bool:
        """Whether the time of a group's present reservation is over: it is to be taken away."""
        running = self._running.get(key)
        return running is not None and running.over and not running.waits_for

    def opening(self, key: str) -> bool:
        """Whether gates of a group are being opened, or it is not known yet what became of them,
        that were judged with its present reservation, which is over or stands in another queue.
        """
        running = self._running.get(key)
        return running is not None and bool(running.waits_for)

    def begin(self, key: str, *, start: bool = False) -> int:
        """Gates of a group are going to be opened; `end` is to be called with what is returned.

        `start`: those of a gang that starts. The time of its reservation begins when that ends.
        """
        self._begun += 1
        self._opening.setdefault(key, set()).add(self._begun)
        if start:
            self._starting[key] += 1
        return self._begun

    def end(self, key: str, begun: int, *, start: bool = False) -> None:
        """What became of them is known. What was over meanwhile expires now.

        `start`: as `begin` was told. Does nothing after `stop`.
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
        """Nothing of the gang could be started: do not wait for the end of its time."""
        self.look(key, group)
        running = self._running.get(key)
        if running is not None:
            running.told = True
            self._is_over(key, running)

    def stop(self) -> None:
        """The term is over: nothing expires any more."""
        self._stopped = True
        for running in self._running.values():
            if running.timer is not None:
                running.timer.cancel()
        self._running.clear()

    def _begin_anew(self, key: str) -> None:
        """The time of a group's reservation, if it is not over and nobody starts the gang."""
        running = self._running.get(key)
        if running is None or running.over or key in self._starting:
            return
        if running.timer is not None:
            running.timer.cancel()
        running.timer = self._timer(key)

    def _timer(self, key: str) -> Timer:
        return self._later(self._timeout, partial(self._fire, key))

    def _fire(self, key: str) -> None:
        self._is_over(key, self._running[key])
        self._expire(key)

    def _is_over(self, key: str, running: _Running) -> None:
        if not running.over:
            running.over = True
            running.waits_for = set(self._opening.get(key, ()))

    def _look_where(self, key: str, running: _Running, *, moved: bool) -> None:
        """A group that comes and goes does not prolong what is over."""
        if moved == running.moved:
            return
        running.moved = moved
        if not running.over:
            running.waits_for = set(self._opening.get(key, ())) if moved else set()

    def _expire(self, key: str) -> None:
        running = self._running.get(key)
        if running is not None and self.over(key) and not running.told:
            running.told = True
            self._expired(key)

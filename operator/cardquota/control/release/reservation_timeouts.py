"""Reservations whose gang does not complete in time are given back (E8), and those of groups that
were enqueued and whose pods do not come in time.

Time counts from the end of the gang's start, when its gates are open. For a reservation that this
leader did not start, it counts from when this leader first saw it: clocks of two machines are never
compared. Gates that are being opened may have been judged with the reservation: it is given back
only when none is, also if its group gets another queue.
"""

import logging
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Final

from ...loop.time_slice import Later, Timer, in_loop_later
from ...quota.ledger.groups.pod_group_state import PodGroupState
from ...quota.ledger.ledger import Ledger
from ...quota.stamp import Reservation
from ...quota.words import logged

_LOG = logging.getLogger(__name__)
HELD: Final = 5.0
"""Seconds for which nothing is reserved there at all. Workloads whose pods were refused stand in no
order: they are woken meanwhile, and make their pods."""
LAST: Final = 1_800.0
"""Seconds after the last such end in which groups of the namespace go after all others."""
MOST: Final = 1_000
"""Pairs of queue and namespace that are remembered. Then the oldest is forgotten."""


@dataclass(slots=True)
class _Running:
    uid: str
    reservation: Reservation
    timer: Timer | None
    """None while the gang is being started: its time has not begun."""
    over: bool = False
    notified: bool = False
    written: bool = False
    """Whether it is known to be stored."""


class ReservationTimeouts:
    """One timer for each group with a reservation. Belongs to the ledger's loop."""

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
        self._opening: Counter[str] = Counter()
        """By group whose gates are being opened: how many tasks do it."""
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

    def over(self, key: str) -> bool:
        """Whether the time of a group's present reservation is over, so that it must be removed."""
        running = self._running.get(key)
        return running is not None and running.over and key not in self._opening

    def opening(self, key: str) -> bool:
        """Whether gates of a group are still being opened, or are not settled."""
        return key in self._opening

    def begin(self, key: str, *, start: bool = False) -> None:
        """Gates of a group are about to be opened. Call `end` after it, with the same arguments.

        `start`: a gang starts. The time of its reservation begins when that ends.
        """
        self._opening[key] += 1
        if start:
            self._starting[key] += 1

    def end(self, key: str, *, start: bool = False) -> None:
        """The opening has ended. A reservation whose time ended meanwhile expires now. Does nothing
        after `stop`.
        """
        if self._stopped:
            return
        for tasks in (self._opening, self._starting) if start else (self._opening,):
            tasks[key] -= 1
            if not tasks[key]:
                del tasks[key]
        if start:
            self._begin_anew(key)
        self._expire(key)

    def give_up(self, key: str, group: PodGroupState) -> None:
        """Nothing of the gang could be started: do not wait until its time is over."""
        self.look(key, group)
        running = self._running.get(key)
        if running is not None:
            running.over = running.notified = True

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
        self._running[key].over = True
        self._expire(key)

    def _expire(self, key: str) -> None:
        running = self._running.get(key)
        if running is not None and self.over(key) and not running.notified:
            running.notified = True
            self._expired(key)


def _is_written(group: PodGroupState | None) -> bool:
    return group is not None and group.reservation not in group.unwritten


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

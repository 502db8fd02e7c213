"""Reservations whose gang does not complete in time are given back (E8).

Time counts from the end of the gang's start, when its gates are open; of a reservation that this
leader did not start, from when it first saw it: no clocks of two machines are compared, so a new
leader begins anew. While gates of the gang are being opened nothing is given back: what is on its
way was decided on the reservation, and must not land after that is gone.
"""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from ..quota.group_book import GroupBook
from ..quota.stamp import Reservation
from .later import Later, Timer, in_loop_later


@dataclass(slots=True)
class _Running:
    uid: str
    reservation: Reservation
    timer: Timer | None
    """None while the gang is being started: its time has not begun."""
    over: bool = False
    told: bool = False


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
        self._opening: Counter[str] = Counter()
        """Groups of which gates are being opened: how many tasks do that."""
        self._starting: Counter[str] = Counter()
        """Groups whose gang is being started: how many of these tasks do that."""
        self._stopped = False

    def __len__(self) -> int:
        return len(self._running)

    def look(self, key: str, book: GroupBook | None) -> None:
        """A group was made, changed or deleted, or is about to be started."""
        if self._stopped:
            return
        facts = book.facts if book is not None else None
        reservation = book.reservation if book is not None else None
        running = self._running.get(key)
        if running is not None:
            if facts is not None and (running.uid, running.reservation) == (facts.uid, reservation):
                return
            if running.timer is not None:
                running.timer.cancel()
            del self._running[key]
        if facts is not None and reservation is not None:
            timer = None if key in self._starting else self._timer(key)
            self._running[key] = _Running(facts.uid, reservation, timer)

    def over(self, key: str) -> bool:
        """Whether the time of a group's present reservation is over: it is to be taken away."""
        running = self._running.get(key)
        return running is not None and running.over and not self.opening(key)

    def opening(self, key: str) -> bool:
        """Whether gates of a group are being opened, or it is not known yet what became of them."""
        return key in self._opening

    def begin(self, key: str, *, start: bool = False) -> None:
        """Gates of a group are going to be opened; `end` is to be called once for each `begin`.

        `start`: those of a gang that starts. The time of its reservation begins when that ends.
        """
        self._opening[key] += 1
        if start:
            self._starting[key] += 1

    def end(self, key: str, *, start: bool = False) -> None:
        """What became of them is known. What was over meanwhile expires now.

        `start`: as `begin` was told. Does nothing after `stop`.
        """
        if self._stopped:
            return
        _take_one(self._opening, key)
        if start:
            _take_one(self._starting, key)
            self._begin_anew(key)
        self._expire(key)

    def give_up(self, key: str, book: GroupBook) -> None:
        """Nothing of the gang could be started: do not wait for the end of its time."""
        self.look(key, book)
        running = self._running.get(key)
        if running is not None:
            running.over = running.told = True

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
        self._running[key].over = True
        self._expire(key)

    def _expire(self, key: str) -> None:
        running = self._running.get(key)
        if running is not None and self.over(key) and not running.told:
            running.told = True
            self._expired(key)


def _take_one(counter: Counter[str], key: str) -> None:
    counter[key] -= 1
    if not counter[key]:
        del counter[key]

"""Reservations whose gang does not complete in time are given back (E8).

Time counts from when this leader first saw the reservation: no clocks of two machines are compared,
so a new leader begins anew.
"""

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
    timer: Timer
    over: bool = False


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

    def __len__(self) -> int:
        return len(self._running)

    def look(self, key: str, book: GroupBook | None) -> None:
        """A group was made, changed or deleted."""
        facts = book.facts if book is not None else None
        reservation = book.reservation if book is not None else None
        running = self._running.get(key)
        if running is not None:
            if facts is not None and (running.uid, running.reservation) == (facts.uid, reservation):
                return
            running.timer.cancel()
            del self._running[key]
        if facts is not None and reservation is not None:
            timer = self._later(self._timeout, partial(self._fire, key))
            self._running[key] = _Running(facts.uid, reservation, timer)

    def over(self, key: str) -> bool:
        """Whether the time of a group's present reservation is over: it is to be taken away."""
        running = self._running.get(key)
        return running is not None and running.over

    def give_up(self, key: str, book: GroupBook) -> None:
        """Nothing of the gang could be started: do not wait for the end of its time."""
        self.look(key, book)
        running = self._running.get(key)
        if running is not None:
            running.over = True

    def stop(self) -> None:
        """The term is over."""
        for running in self._running.values():
            running.timer.cancel()
        self._running.clear()

    def _fire(self, key: str) -> None:
        running = self._running[key]
        if not running.over:
            running.over = True
            self._expired(key)

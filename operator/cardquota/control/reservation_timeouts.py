"""Reservations whose gang does not complete in time are given back (E8).

Time counts from when this leader first saw the reservation: no clocks of two machines are compared,
so a new leader begins anew. While gates of the gang are being opened nothing is given back: what is
on its way was decided on the reservation, and must not land after that is gone.
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
    timer: Timer
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
        return running is not None and running.over and not self.opening(key)

    def opening(self, key: str) -> bool:
        """Whether gates of a group are being opened, or it is not known yet what became of them."""
        return key in self._opening

    def begin(self, key: str) -> None:
        """Gates of a group are going to be opened; `end` is to be called once for each `begin`."""
        self._opening[key] += 1

    def end(self, key: str) -> None:
        """What became of them is known. What was over meanwhile expires now."""
        self._opening[key] -= 1
        if not self._opening[key]:
            del self._opening[key]
            self._expire(key)

    def give_up(self, key: str, book: GroupBook) -> None:
        """Nothing of the gang could be started: do not wait for the end of its time."""
        self.look(key, book)
        running = self._running.get(key)
        if running is not None:
            running.over = running.told = True

    def stop(self) -> None:
        """The term is over."""
        for running in self._running.values():
            running.timer.cancel()
        self._running.clear()

    def _fire(self, key: str) -> None:
        self._running[key].over = True
        self._expire(key)

    def _expire(self, key: str) -> None:
        running = self._running.get(key)
        if running is not None and self.over(key) and not running.told:
            running.told = True
            self._expired(key)

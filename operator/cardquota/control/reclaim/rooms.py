"""Cards that are kept for those for whom pods end (L5)."""

from collections.abc import Callable, Mapping
from typing import Final

from ...quota.ledger.ledger import Ledger
from ...quota.plan_record import PlanRecord
from ...quota.reclaim.places import StandingPlan, TakenPlaces
from ...quota.reclaim.plan import Beneficiary
from ...quota.reclaim.progress import room_of, waiting_one
from .course import Course

_UNCONFIRMED: Final = 30.0
"""Seconds for which a card is kept for a plan of which it is not known whether it was written."""


class PlanRooms:
    """Of one term: those of plans that are carried out, and of plans that are being written."""

    def __init__(
        self,
        ledger: Ledger,
        courses: Mapping[str, Course],
        changed: Callable[[], None],
        clock: Callable[[], float],
    ) -> None:
        """`courses`: by key of who waits; the caller changes them. `changed` is called when others
        may be released. `clock`: seconds, monotonic.
        """
        self._ledger = ledger
        self._courses = courses
        self._changed = changed
        self._clock = clock
        self._unconfirmed: dict[str, tuple[StandingPlan, float]] = {}
        """By key of who waits: its plan, and until when that counts if the watch does not show it.
        """
        self.taken = TakenPlaces()

    @property
    def all_confirmed(self) -> bool:
        """Whether the watch has shown all plans that were written."""
        return not self._unconfirmed

    def expect(self, plan: PlanRecord, one: Beneficiary) -> None:
        """A plan is about to be written."""
        standing = StandingPlan(room_of(self._ledger, plan, one), one.queue, all_end=False)
        self._unconfirmed[one.key] = standing, self._clock() + _UNCONFIRMED
        self.keep()

    def withdraw(self, key: str) -> None:
        """It was not written, and cannot be any more."""
        self._unconfirmed.pop(key, None)
        self.keep()

    def keep(self) -> None:
        """Nobody else is released for a card for which pods end; what a queue gives to itself is
        kept in that queue alone. Who gets that would pass where the card is closed for a plan
        between queues too: so only when all are gone that end for it, or it might take that room.
        """
        now, ledger = self._clock(), self._ledger
        self._unconfirmed = {
            key: (plan, until)
            for key, (plan, until) in self._unconfirmed.items()
            if key not in self._courses and until > now
            # A plan goes with who waits.
            if key in ledger.pods or key in ledger.groups
        }
        plans = {key: plan for key, (plan, _) in self._unconfirmed.items()}
        for key, course in self._courses.items():
            one = waiting_one(ledger, key, course.plan.card)
            if one is not None and not course.over:
                room = room_of(ledger, course.plan, one)
                plans[key] = StandingPlan(room, one.queue, course.all_end(ledger))
        self.taken = TakenPlaces(plans.values())
        between = {card for card, queue in self.taken.places if not queue}
        made = {key for key, course in self._courses.items() if course.vacated is not None}
        rooms = {
            key: room
            for key, (room, *_) in plans.items()
            if not room.queue or key in made or room.cards.isdisjoint(between)
        }
        if rooms != self._ledger.kept_rooms:
            self._ledger.decisions.keep_rooms(rooms)
            self._changed()

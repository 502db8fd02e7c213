"""A plan that is being carried out (L5)."""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import chain

from ...quota.ledger.ledger_reader import LedgerReader
from ...quota.plan_record import PlanRecord
from ...quota.pods.pod_record import PodRecord
from ...quota.reclaim.places import ends
from ...quota.reclaim.plan import Beneficiary, ReclaimWay
from ...quota.reclaim.progress import borrowed_without, units_of


@dataclass(slots=True)
class Course:
    """As it stands on who waits, and what this leader did for it."""

    plan: PlanRecord
    units: tuple[tuple[str, ...], ...]
    """Uids of its victims, as they end together."""
    queues: set[str] = field(default_factory=set)
    """Of its victims, as far as they were seen."""
    borrowed: int = 0
    """How much of the card all queues held on nodes beyond what they deserve when it began, without
    all that end."""
    one: Beneficiary | None = None
    """Who waits, as it was last seen."""
    asked: dict[str, float] = field(default_factory=dict)
    """When each victim was asked to end, by uid; also if no answer came."""
    ended: set[str] = field(default_factory=set)
    """Of these the ones that were told to end."""
    refused: set[str] = field(default_factory=set)
    """Victims that may not end. They never return to this course."""
    vacated: float | None = None
    """Since when nobody is left who could still end."""
    short: bool = False
    """Whether one of them may not end, so that others are looked for."""
    enough: bool = False
    """Whether who waits would have room without any more, as it was last found."""
    comes: bool = False
    """Whether that is room of pods that are being deleted, for it or for others."""
    starves: bool = False
    """Whether a unit that is larger than the budgets waits for a minute in which nobody ends."""
    told: bool = False
    """Whether who waits was told that all of them were asked to end."""
    over: bool = False
    """Whether no other unit ends for it. That is written once those that have begun have ended."""
    gave_up: int = 0
    """When it had had its time, seconds since 1970; 0: it had not."""

    def left(self, ledger: LedgerReader) -> Iterator[tuple[tuple[str, ...], list[PodRecord]]]:
        """Each unit, with those of it that are still to be asked to end, or were and do not end
        yet. Once it is over, and while no other may begin, of gangs that have begun alone.
        """
        for unit in self.units:
            begun = self.one is not None and len(unit) > 1 and self.has_begun(ledger, unit)
            if (self.over or self.short or self.enough) and not begun:
                continue
            there = (uid for uid in unit if uid not in self.refused and not ends(ledger, uid))
            if left := [ledger.pods[uid] for uid in there]:
                yield unit, left

    def has_begun(self, ledger: LedgerReader, unit: tuple[str, ...]) -> bool:
        """Whether pods of a unit end for it, so that the others have to."""
        return any(uid in self.ended or (uid in self.asked and ends(ledger, uid)) for uid in unit)

    def ending(self, ledger: LedgerReader) -> set[str]:
        """Those that end for it, or did; also of a plan before that others were added to."""
        chosen = {*self.plan.victims, *self.asked} - self.refused
        return {uid for uid in chosen if uid in self.asked or ends(ledger, uid)}

    def refuse(self, uids: Collection[str]) -> None:
        """These may not end for it, and never return to it: others are looked for."""
        self.refused.update(uids)
        self.short = True

    def all_end(self, ledger: LedgerReader) -> bool:
        """Whether nobody is still to be asked to end for it."""
        return not self.short and all(ends(ledger, uid) for uid in self.plan.victims)

    def is_vacated(self, ledger: LedgerReader) -> bool:
        """Whether all that ended for it, of other queues, are gone. Who went before this term says
        nothing: others may have had the room since then.
        """
        plan = self.plan
        if self.vacated is None or self.short or plan.way != ReclaimWay.RECLAIM:
            return False
        return all(uid in self.asked and uid not in ledger.pods for uid in plan.victims)

    def take_over(self, before: "Course") -> None:
        """Others end for the same one, beside those that do already."""
        self.one, self.asked, self.borrowed = before.one, before.asked, before.borrowed
        self.ended, self.refused = before.ended, before.refused
        self.queues |= before.queues


def course_of(ledger: LedgerReader, plan: PlanRecord, now: float) -> Course:
    """One that begins, or goes on in another term: then those that end were asked to."""
    course = Course(plan, tuple(units_of(ledger, plan.victims)))
    there = {uid: ledger.pods[uid] for uid in plan.victims if uid in ledger.pods}
    course.queues = {record.queue for record in there.values()}
    course.asked = {uid: now for uid, record in there.items() if record.facts.terminating}
    return course


class Courses:
    """All plans that are carried out in a term."""

    def __init__(self, ledger: LedgerReader) -> None:
        self._ledger = ledger
        self._by_key: dict[str, Course] = {}

    @property
    def by_key(self) -> Mapping[str, Course]:
        """By uid or `namespace/name` of who waits. Goes with what is put."""
        return self._by_key

    def put(self, key: str, course: Course | None) -> None:
        """It is carried out from now on, or none is. So others end, or stay, and what queues have
        borrowed without them is another amount for all.
        """
        before = self._by_key.get(key)
        plans = [one.plan for one in (before, course) if one is not None]
        was = {p.card: self.borrowed(p.card) for p in plans if p.way == ReclaimWay.RECLAIM}
        if course is None:
            self._by_key.pop(key, None)
        else:
            self._by_key[key] = course
        for card, amount in was.items():
            now = self.borrowed(card)
            for one in self._by_key.values():
                one.borrowed += now - amount if one.plan.card == card else 0
            if course is not None and before is None:
                course.borrowed = now

    def went_to_owed(self, course: Course) -> bool:
        """Whether it is vacated, and nobody has its room beyond what his queue deserves."""
        there = course.is_vacated(self._ledger)
        return there and self.borrowed(course.plan.card) <= course.borrowed

    def borrowed(self, card: str) -> int:
        """How much of a card all queues hold on nodes beyond what they deserve, without those that
        end by plans between queues, or are being deleted. Costs by these, and by the queues.
        """
        plans = (course.plan for course in self._by_key.values())
        wanted = ReclaimWay.RECLAIM, card
        ends = [plan.victims for plan in plans if (plan.way, plan.card) == wanted]
        return borrowed_without(self._ledger, card, {*chain(*ends), *self._ledger.being_deleted})

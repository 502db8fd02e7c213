"""Ends pods for those who are owed their cards, or have a higher priority, in one term (L5).

A *look* is made every few seconds; `_look` is its table of contents. What is done follows from what
stands on those who wait, and from the pods that are there: so a successor goes on with the same
victims, and an answer that was lost is found out by looking again.
"""

import asyncio
import logging
import time
from collections.abc import Callable, Collection
from contextlib import suppress
from itertools import chain
from typing import Final

from ...cluster.events import EventRecorder
from ...cluster.writes import FencedWriter
from ...loop.timing import ended, in_slices
from ...metrics import Metrics
from ...quota.ledger.ledger import Ledger
from ...quota.plan_record import PlanRecord
from ...quota.pods.pod_record import PodRecord
from ...quota.reclaim.demands import cards_of
from ...quota.reclaim.places import ends
from ...quota.reclaim.plan import MOST_VICTIMS, Beneficiary, NoPlan, Obstacle, Plan, ReclaimWay
from ...quota.reclaim.planner import plans
from ...quota.reclaim.progress import (
    PLAN_TIME,
    Leaving,
    is_still_owed,
    is_unprotected,
    leaving_now,
    may_still_end,
    room_of,
    started,
    units_of,
    waiting_one,
)
from ...quota.reclaim.reclaim_notes import ReclaimNotes
from ...quota.vocabulary import ReclaimMode
from ...quota.words import logged
from ...settings import Settings
from .candidates import Candidates
from .course import Course, Courses, course_of
from .ending import NO_ANSWERS, Ending
from .evictions import EvictionAnswer, EvictionBudget
from .plan_writer import PlanWriter
from .reclaim_events import ReclaimEvents
from .rooms import PlanRooms

_LOG = logging.getLogger(__name__)
EVERY: Final = 2.0
"""Seconds between two looks."""
SOON: Final = 0.1
"""Seconds until the next look while the watch has not shown what was just written."""
_ASK_AGAIN: Final = 10.0
"""Seconds after which a pod is asked to end again, if the watch has not shown that it does."""
_LATE: Final = 60
"""Seconds after its grace period for which a pod that ends is waited for; and that two clocks may
differ."""


class Reclaimer:
    """Of one replica, for one term after the other. Belongs to the ledger's loop.

    Guarantees: no pod is asked to end before it stands on who waits, and none in two terms for two
    plans of one who waits; one plan for one who waits, and inside a queue one for a card there;
    between queues one for a card of which somebody is still to be asked. In one term never more end
    in a minute than the budgets say, but for a gang, which ends whole once one of it ends. A look
    holds up the loop for no longer than a slice of it, and one step of the planner.
    """

    def __init__(
        self,
        ledger: Ledger,
        make_writer: Callable[[], FencedWriter],
        events: EventRecorder,
        metrics: Metrics,
        settings: Settings,
        notes: ReclaimNotes,
        *,
        unsure: Callable[[], bool],
        changed: Callable[[], None],
        clock: Callable[[], float],
        wall_clock: Callable[[], float] = time.time,
    ) -> None:
        """`make_writer`: makes a writer for decisions of the current term. `notes`: by `clock`; of
        the replica, which others keep up to date. `unsure`: whether what is known may be wrong or
        old; then nobody is asked to end. `changed` is called when others may be released. `clock`:
        seconds, monotonic. `wall_clock`: seconds since 1970, as the API server counts them.
        """
        self._ledger = ledger
        self._make_writer = make_writer
        self._metrics = metrics
        self._settings = settings
        self._reclaim = settings.reclaim
        self._timeout = settings.reservation_timeout
        self._notes = notes
        self._unsure = unsure
        self._changed = changed
        self._clock = clock
        self._wall_clock = wall_clock
        self._tells = ReclaimEvents(ledger, events, self._timeout)
        self._stop = asyncio.Event()
        self._stop.set()
        self._task: asyncio.Task[None] | None = None
        self._reset("", 0.0)

    def _reset(self, term: str, now: float) -> None:
        self._term, self._begun = term, now
        self._table = Courses(self._ledger)
        self._courses = self._table.by_key
        self._rooms = PlanRooms(self._ledger, self._courses, self._changed, self._clock)
        self._candidates = Candidates(
            self._ledger, self._settings, self._notes, self._clock, self._wall_clock
        )
        self._inherited = dict(self._ledger.plans)
        self._notes.refused = ()

    # --- one term -----------------------------------------------------------------------------

    def begin(self, term: str) -> None:
        """End pods from now on, in this term."""
        self._reset(term, self._clock())
        self._writer = self._make_writer()
        in_all, of_one = self._reclaim.evictions_per_minute, self._reclaim.evictions_per_queue
        self._budget = EvictionBudget(in_all, of_one, self._clock)
        self._ending = Ending(
            self._ledger,
            self._writer,
            term,
            self._tells,
            self._metrics,
            self._budget,
            self._clock,
        )
        self._plan_writer = PlanWriter(self._ledger, self._writer)
        self._take_up_stored()
        self._rooms.keep()  # before any gate opens in this term
        self._stop.clear()
        self._task = asyncio.get_running_loop().create_task(self._run())

    async def drain(self, timeout: float) -> bool:
        """Ask nobody any more. Returns whether all that was sent is answered, within so many s.
        What lands later is refused: it names this term.
        """
        self._stop.set()
        if self._task is not None:
            await asyncio.wait({self._task}, timeout=timeout)
        return self._task is None or self._task.done()

    async def end(self) -> None:
        """The term is over."""
        self._stop.set()
        if self._task is not None:
            await ended([self._task])
            self._task = None
        self._reset("", 0.0)
        self._ledger.decisions.keep_rooms({})

    @property
    def all_seen(self) -> bool:
        """Whether the watches brought back all plans, and all who were asked to end."""
        courses = self._courses.values()
        asked = (uid for course in courses for uid in course.asked if uid not in course.refused)
        return self._rooms.all_confirmed and all(ends(self._ledger, uid) for uid in asked)

    async def _run(self) -> None:
        while not self._stop.is_set():
            try:
                await self._look()
            except Exception:  # noqa: BLE001 - the next look begins anew
                _LOG.exception("a look at who waits for cards of others failed")
            with suppress(TimeoutError):
                async with asyncio.timeout(EVERY if self._rooms.all_confirmed else SOON):
                    await self._stop.wait()

    async def _look(self) -> None:
        # 1. What has run out, and who ends without that we were told.
        self._ending.look()
        self._notes.refused = self._ending.left_out

        # 2. What stands on those who wait: begin, go on, end.
        await self._follow()

        # 3. Who of that is still to be asked to end.
        for key, course in sorted(self._courses.items(), key=lambda one: one[1].plan.since):
            await self._carry_out(key, course)
            if course.starves:
                break  # the others would use up what it waits for

        # 4. New plans.
        if self._may_plan():
            await self._plan()

    def _may_ask(self) -> bool:
        """Not while drift, the fence or old views cast doubt on what is known."""
        writer = self._writer
        in_doubt = self._stop.is_set() or writer.closed or not writer.in_time()
        return not in_doubt and not self._unsure()

    def _may_plan(self) -> bool:
        """Nor before those who wait could be seen to wait."""
        seen = self._clock() - self._begun >= self._reclaim.after
        return seen and self._rooms.all_confirmed and self._may_ask()

    # --- plans that are carried out -----------------------------------------------------------

    async def _follow(self) -> None:
        """Take in what stands on those who wait, and end what is over."""
        self._take_up_stored()
        for key, course in self._courses.items():
            self._judge(key, course)
        self._rooms.keep()
        for key, course in list(self._courses.items()):
            if course.over and not any(course.left(self._ledger)):
                await self._put_away(key, course)

    def _take_up_stored(self) -> None:
        for key, plan in list(self._ledger.plans.items()):
            course = self._courses.get(key)
            if plan.gave_up:
                self._table.put(key, None)
            elif course is None and self._stays_on_pod(key, plan):
                pass
            elif course is None or course.plan != plan:
                self._take_up(key, plan, course)

    def _stays_on_pod(self, key: str, plan: PlanRecord) -> bool:
        """Whether it is on a pod that has started, or is about to go: that takes it along."""
        pods = self._ledger.pods
        return key in pods and waiting_one(self._ledger, key, plan.card) is None

    def _take_up(self, key: str, plan: PlanRecord, before: Course | None) -> None:
        """A plan was written, or was there when the term began. One that another term wrote later
        is over: its victims may not be those of now.
        """
        course = course_of(self._ledger, plan, self._clock())
        if before is not None:
            course.take_over(before)
        self._table.put(key, course)
        course.over = plan.term != self._term and self._inherited.get(key) != plan
        if not course.over:
            _LOG.info("pods end for %s: %d of <%s>", logged(key), len(plan.victims), plan.card)

    def _judge(self, key: str, course: Course) -> None:
        """It is over once who waits has started or is gone, or nothing may end for it any more; or
        it has had its time: since its victims are gone, or should be; or in all.
        """
        if course.over:
            return
        ledger, plan = self._ledger, course.plan
        now, wall = self._clock(), self._wall_clock()
        one = waiting_one(ledger, key, plan.card)
        if one is None:
            course.over = True
            if course.one is not None and course.asked and not started(ledger, key):
                self._candidates.went_away(course.one.queue, plan.card)
            return
        course.one = one
        left = any(course.left(ledger))
        if (
            self._candidates.mode_in(one.queue) is not ReclaimMode.ON
            or not one.amount
            or plan.since > wall + _LATE
            or (left and plan.way == ReclaimWay.RECLAIM and not is_still_owed(ledger, one))
        ):
            course.over = True
            return
        waits = left or any(map(self._is_leaving, plan.victims))
        begins = course.vacated is None or course.comes  # others' room, where they have its own
        course.vacated = None if waits else now if begins else course.vacated
        vacated = course.vacated is not None and now - course.vacated >= self._timeout
        if vacated or wall - plan.since >= PLAN_TIME + self._timeout:
            self._give_up(key, course)

    def _give_up(self, key: str, course: Course) -> None:
        course.over, course.gave_up = True, int(self._wall_clock())
        if course.one is not None:
            self._candidates.gave_up(key, course.one.queue, course.plan.card)
        self._tells.gave_up(key, course.plan._replace(gave_up=course.gave_up))

    async def _put_away(self, key: str, course: Course) -> None:
        """Take away what stands on who waits, or write that it was in vain."""
        ledger, plan = self._ledger, course.plan
        if key not in ledger.plans or self._stays_on_pod(key, plan):
            self._table.put(key, None)
            return
        left = plan._replace(gave_up=course.gave_up) if course.gave_up else None
        await self._plan_writer.write(key, left)

    def _is_leaving(self, uid: str) -> bool:
        """Whether a pod is being deleted, and not late with that."""
        record = self._ledger.pods.get(uid)
        if record is None or not record.facts.terminating:
            return False
        gone_by = record.facts.gone_by
        late = int(self._wall_clock()) - gone_by if gone_by is not None else 0
        if late < _LATE:
            return True
        self._tells.not_gone(record, late)
        return False

    async def _carry_out(self, key: str, course: Course) -> None:
        """Ask those to end who are left, as far as the budgets allow. A unit that has begun is
        finished, whoever waits: a part of a gang would run for nothing.
        """
        leaving: Leaving | None = None
        most_at_once = min(self._reclaim.evictions_per_minute, self._reclaim.evictions_per_queue)
        course.starves = False
        for whole, unit in list(course.left(self._ledger)):
            if not course.has_begun(self._ledger, whole):
                if course.short:
                    continue
                if not self._budget.allows([record.queue for record in unit]):
                    course.starves = len(unit) > most_at_once
                    continue
                answer = await self._ending.could_all_end(unit)
                if answer is EvictionAnswer.REFUSED:
                    course.refuse([record.facts.uid for record in unit])
                    continue
                if answer in NO_ANSWERS:
                    return
                if leaving is None:
                    leaving = await in_slices(leaving_now(self._ledger, self._asked()))
                leaving.catch_up(self._ledger)
                if not self._may_begin(key, course, unit, leaving):
                    continue
            if course.one is None or not await self._end(course, course.one, unit, whole):
                return
            if leaving is not None:
                for record in unit:
                    leaving.add(record)
        self._tell_room(key, course)

    def _tell_room(self, key: str, course: Course) -> None:
        plan, left = course.plan, course.left(self._ledger)
        asked = (one.facts.uid in course.asked for _, unit in left for one in unit)
        # While others are looked for, more may end.
        all_asked = all(asked) and (not course.short or course.vacated is not None)
        ending = len(course.ending(self._ledger))
        if all_asked and ending and course.one is not None and not (course.over or course.told):
            course.told = True
            self._tells.room_made(key, plan, course.one, ending, course.queues)

    def _asked(self) -> Collection[str]:
        return {uid for course in self._courses.values() for uid in course.asked}

    def _may_begin(self, key: str, course: Course, unit: list[PodRecord], leaving: Leaving) -> bool:
        """Whether pods that end together may be asked to now; else others are looked for."""
        self._judge(key, course)
        if course.over or course.one is None:
            return False
        way, past = ReclaimWay(course.plan.way), self._reclaim.past_admission
        one = course.one
        if may_still_end(self._ledger, unit, way, one, leaving, past_admission=past):
            return True
        self._refuse([record.facts.uid for record in unit], course)
        return False

    def _refuse(self, uids: Collection[str], course: Course) -> None:
        self._ending.leave_out(uids)
        course.refuse(uids)

    async def _end(
        self, course: Course, one: Beneficiary, unit: list[PodRecord], whole: tuple[str, ...]
    ) -> bool:
        """Ask pods to end that do together. If the first may not, none of them does. Returns
        whether others may be asked in this look.
        """
        ledger, past = self._ledger, self._reclaim.past_admission
        for uid in (record.facts.uid for record in unit):
            record = ledger.pods.get(uid)
            if not self._may_ask():
                return False
            again = self._clock() - course.asked.get(uid, -_ASK_AGAIN) >= _ASK_AGAIN
            if record is None or record.facts.terminating:
                continue
            if not again:
                if not course.has_begun(ledger, whole):
                    return True
                continue
            if is_unprotected(ledger, record, past_admission=past):
                answer = await self._ending.end(record, course, one)
            else:
                answer = EvictionAnswer.REFUSED
            if answer is EvictionAnswer.REFUSED:
                begun = course.has_begun(ledger, whole)
                self._refuse([uid] if begun else whole, course)
                if not begun:
                    return True
            elif answer in NO_ANSWERS:
                return False
        return True

    # --- new plans ----------------------------------------------------------------------------

    async def _plan(self) -> None:
        """One round: those whose plan is carried out come first, so that nobody else is promised
        their room. Each counts on what those before it free and take: so after one that is not
        carried out as it was made, none for the same cards is.
        """
        waiting = await self._candidates.find(self._courses, self._rooms.taken)
        keys, courses = {one.key for one in waiting}, self._courses.items()
        # Nor the room of those that are about to start.
        starting = [c.one for key, c in courses if c.one and not c.over and key not in keys]
        refused = (course.refused for course in self._courses.values())
        excluded = set(self._ending.left_out).union(*refused)
        past = self._reclaim.past_admission
        found = await in_slices(
            plans(
                self._ledger,
                [*starting, *waiting],
                excluded,
                past_admission=past,
                now=self._wall_clock(),
            )
        )
        results = {result.beneficiary.key: result for result in found}
        for key, course in courses:
            result = results.get(key)
            course.comes = isinstance(result, NoPlan) and result.obstacle is Obstacle.LEAVING
            course.enough = course.comes or result is None
            if isinstance(result, Plan) and self._table.went_to_owed(course):
                course.over = True  # others end for it instead
        changed: set[str] = set()
        for result in found:
            if self._stop.is_set():
                return
            if isinstance(result, Plan):
                cards = {*cards_of(self._ledger, result.beneficiary), *result.cards}
                counts = cards.isdisjoint(changed) or self._is_told(result.beneficiary)
                if not (counts and await self._take(result)):
                    changed |= cards

    async def _take(self, plan: Plan) -> bool:
        """Carry out a plan, or say that it would be. Returns whether it is."""
        one = plan.beneficiary
        course = self._courses.get(one.key)
        if course is None and self._is_told(one):
            self._say(plan)
            return True
        # The planner knows whom it would choose for these now, not all who were chosen.
        others = [c.plan.victims for key, c in self._courses.items() if key != one.key]
        if not {victim.uid for victim in plan.victims}.isdisjoint(chain(*others)):
            return False
        if course is not None:
            return await self._go_on(course, plan)
        if self._rooms.taken.bar(one) or self._too_many(one.way):
            return False
        if self._candidates.is_paused(one.queue, one.card) or not self._budget.allows(plan.queues):
            return False
        return await self._may_end(plan) and await self._write(plan)

    async def _go_on(self, course: Course, plan: Plan) -> bool:
        """Of a plan that is carried out, by what would be made for it now. Returns whether it does
        not differ from that.
        """
        if course.over or plan.beneficiary.way != course.plan.way:
            return False
        if course.short:
            await self._extend(course, plan)
            return False
        return {victim.uid for victim in plan.victims} <= {*course.plan.victims}

    def _is_told(self, one: Beneficiary) -> bool:
        return self._candidates.mode_in(one.queue) is ReclaimMode.DRY_RUN

    def _too_many(self, way: ReclaimWay) -> bool:
        """Of plans inside queues: more would wait for the budget of evictions in vain."""
        inside = [queue for _, queue in self._rooms.taken.places if queue]
        return way is ReclaimWay.PREEMPT and len(inside) >= self._reclaim.evictions_per_minute

    def _say(self, plan: Plan) -> None:
        one = plan.beneficiary
        self._candidates.was_told(one.key)
        for victim in plan.victims:
            self._metrics.would_evict.labels(victim.queue, one.way).inc()
        self._tells.would_reclaim(plan)

    async def _write(self, plan: Plan) -> bool:
        one, victims = plan.beneficiary, tuple(victim.uid for victim in plan.victims)
        record = PlanRecord(self._term, int(self._wall_clock()), one.way, one.card, victims)
        barred = self._rooms.taken.bar(one, room_of(self._ledger, record, one).places)
        if barred or waiting_one(self._ledger, one.key, one.card) is None:
            return False
        self._rooms.expect(record, one)
        written = await self._plan_writer.write(one.key, record)
        if not written:
            self._rooms.withdraw(one.key)
        return written

    async def _extend(self, course: Course, plan: Plan) -> None:
        """Others end instead of those that may not."""
        if not await self._may_end(plan):
            return
        ledger = self._ledger
        begun = {uid for unit in course.units if course.has_begun(ledger, unit) for uid in unit}
        old = [
            uid
            for uid in course.plan.victims
            if uid in ledger.pods
            and uid not in course.refused
            and (ends(ledger, uid) or uid in course.asked or uid in begun)
        ]
        victims = dict.fromkeys([*old, *(victim.uid for victim in plan.victims)])
        if len(victims) > MOST_VICTIMS:
            return  # no unit is cut
        record = course.plan._replace(term=self._term, victims=tuple(victims))
        if await self._plan_writer.write(plan.beneficiary.key, record):
            course.short = False

    async def _may_end(self, plan: Plan) -> bool:
        """Ask by dry run for all of them: who may not end is left out of the next plan."""
        found = True
        for victim in plan.victims:
            record = self._ledger.pods.get(victim.uid)
            if record is None or record.facts.terminating:
                continue
            if not self._may_ask():
                return False
            answer = await self._ending.could_end(record)
            if answer in NO_ANSWERS:
                return False
            found = found and answer is not EvictionAnswer.REFUSED
        pods = self._ledger.pods
        for unit in list(units_of(self._ledger, [victim.uid for victim in plan.victims])):
            answer = await self._ending.could_all_end([pods[uid] for uid in unit if uid in pods])
            if answer in NO_ANSWERS or not self._may_ask():
                return False
            found = found and answer is not EvictionAnswer.REFUSED
        return found

"""Ends pods for those who are owed their cards, or have a higher priority, in one term (L5).

A *look* is made every few seconds; `_look` is its table of contents. What is done follows from what
stands on those who wait, and from the pods that are there: so a successor goes on with the same
victims, and an answer that was lost is found out by looking again.
"""

import asyncio
import logging
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Final

from ...cluster.events import EventRecorder
from ...cluster.writes import FencedWriter
from ...loop.timing import ended, in_slices
from ...metrics import Metrics
from ...quota.amounts import is_card
from ...quota.ledger.ledger import Ledger
from ...quota.ledger.ledger_reader import KeptRoom
from ...quota.plan_record import PlanRecord
from ...quota.reclaim.beneficiaries import preempt_waiters, reclaim_waiters
from ...quota.reclaim.plan import MOST_VICTIMS, PAUSE, Beneficiary, Plan, ReclaimWay
from ...quota.reclaim.planner import plans
from ...quota.reclaim.progress import may_still_end, waiting_one
from ...quota.reclaim.reclaim_notes import ReclaimNotes
from ...quota.vocabulary import ReclaimMode
from ...quota.words import logged, time_text
from ...settings import Settings
from .evictions import LEFT_OUT, EvictionAnswer, EvictionBudget, Evictor
from .gang_budgets import gang_may_end, whole_gangs
from .plan_writer import PlanWriter
from .reclaim_events import ReclaimEvents

_LOG = logging.getLogger(__name__)
EVERY: Final = 2.0
"""Seconds between two looks."""
SOON: Final = 0.1
"""Seconds until the next look while the watch has not shown what was just written."""
_ASK_AGAIN: Final = 10.0
"""Seconds after which a pod is asked to end again, if the watch has not shown that it does; and for
which a card is kept for a plan of which it is not known whether it was written."""
_LATE: Final = 60
"""Seconds after its grace period for which a pod that ends is waited for."""
_MOST: Final = 256
"""Of those who wait, so many are looked at in one look: those first who have waited for it most."""
_STOPS: Final = (EvictionAnswer.UNKNOWN, EvictionAnswer.NOT_NOW)
"""Answers after which no other pod is asked in this look."""


@dataclass(slots=True)
class _Course:
    """A plan that is being carried out, as it stands on who waits."""

    plan: PlanRecord
    asked: dict[str, float] = field(default_factory=dict)
    """When each victim was asked to end, by uid."""
    vacated: float | None = None
    """Since when nobody is left who could still end."""
    short: bool = False
    """Whether one of them may not end, so that others are looked for."""
    told: bool = False
    """Whether who waits was told that all of them were asked to end."""
    over: bool = False
    """Whether it has ended, and that is still to be written or seen."""
    gave_up: int = 0
    """When it had had its time, seconds since 1970; 0: it had not."""


@dataclass(slots=True)
class _Unconfirmed:
    """A plan that is not known to be written."""

    room: KeptRoom
    until: float


class Reclaimer:
    """Of one replica, for one term after the other. Belongs to the ledger's loop.

    Guarantees: no pod is asked to end before it stands on who waits, and none in two terms for two
    plans of one who waits; never more in a minute than the budgets say; one plan for one who waits,
    and for one card. A look holds up the loop for no longer than a slice of it, and one step of the
    planner.
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
        the replica, for questions. `unsure`: whether what is known may be wrong or old; then no
        plan is made. `changed` is called when others may be released. `clock`: seconds, monotonic.
        `wall_clock`: seconds since 1970, as the API server counts them.
        """
        self._ledger = ledger
        self._make_writer = make_writer
        self._metrics = metrics
        self._reclaim = settings.reclaim
        self._preempt_after = settings.preempt.after
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
        reclaim = self._reclaim
        self._term, self._begun = term, now
        self._courses: dict[str, _Course] = {}
        """By uid or `namespace/name` of who waits, as all of these but the next three."""
        self._unconfirmed: dict[str, _Unconfirmed] = {}
        """By card."""
        self._left_out: dict[str, float] = {}
        """By uid: pods that may not end, until when nobody asks again."""
        self._notes.refused = ()
        self._inherited = dict(self._ledger.plans)
        self._would: dict[str, float] = {}
        """For whom it was told what would be done, and when."""
        self._looked: dict[str, float] = {}
        """When the planner last looked at each."""
        self._budget = EvictionBudget(
            reclaim.evictions_per_minute, reclaim.evictions_per_queue, self._clock
        )

    # --- one term -----------------------------------------------------------------------------

    def begin(self, term: str) -> None:
        """End pods from now on, in this term."""
        self._reset(term, self._clock())
        self._writer = self._make_writer()
        self._evictor = Evictor(self._writer, term)
        self._plan_writer = PlanWriter(self._ledger, self._writer)
        self._take_up_stored()
        self._keep_rooms()  # before any gate opens in this term
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
        asked = (uid for course in self._courses.values() for uid in course.asked)
        return not self._unconfirmed and all(map(self._ends, asked))

    async def _run(self) -> None:
        while not self._stop.is_set():
            try:
                await self._look()
            except Exception:  # noqa: BLE001 - the next look begins anew
                _LOG.exception("a look at who waits for cards of others failed")
            with suppress(TimeoutError):
                async with asyncio.timeout(SOON if self._unconfirmed else EVERY):
                    await self._stop.wait()

    async def _look(self) -> None:
        # 1. Since when nodes have no room for whom.
        now = self._clock()
        self._notes.look(self._ledger.unplaced, now)
        self._left_out = {uid: until for uid, until in self._left_out.items() if until > now}
        self._notes.refused = self._left_out

        # 2. What stands on those who wait: begin, go on, end.
        await self._follow()
        self._keep_rooms()

        # 3. Who of that is still to be asked to end.
        for key, course in sorted(self._courses.items(), key=lambda one: one[1].plan.since):
            if not await self._carry_out(key, course):
                return

        # 4. New plans.
        if self._may_plan():
            await self._plan()

    def _may_plan(self) -> bool:
        """Not while drift, the fence or old views cast doubt on what is known, nor before those who
        wait could be seen to wait.
        """
        if self._stop.is_set() or self._writer.closed or not self._writer.in_time():
            return False
        if self._unconfirmed:
            return False
        return self._clock() - self._begun >= self._reclaim.after and not self._unsure()

    # --- plans that are carried out -----------------------------------------------------------

    async def _follow(self) -> None:
        """Take in what stands on those who wait, and end what is over."""
        self._take_up_stored()
        for key, course in list(self._courses.items()):
            written = self._unconfirmed.get(course.plan.card)
            if written is not None and written.room.key == key:
                del self._unconfirmed[course.plan.card]
            await self._end_if_over(key, course)
        now = self._clock()
        self._unconfirmed = {
            card: one for card, one in self._unconfirmed.items() if one.until > now
        }

    def _take_up_stored(self) -> None:
        stored = self._ledger.plans
        for key in list(self._courses):
            if key not in stored:
                del self._courses[key]
        for key, plan in list(stored.items()):
            course = self._courses.get(key)
            if plan.gave_up:
                self._courses.pop(key, None)
            elif course is None or course.plan != plan:
                self._take_up(key, plan, course)

    def _take_up(self, key: str, plan: PlanRecord, before: _Course | None) -> None:
        """A plan was written, or was there when the term began. One that another term wrote later
        is over: its victims may not be those of now.
        """
        known = before.asked if before is not None else {}
        course = self._courses[key] = _Course(plan, known)
        course.over = plan.term != self._term and self._inherited.get(key) != plan
        if not course.over:
            _LOG.info("pods end for %s: %d of <%s>", logged(key), len(plan.victims), plan.card)

    async def _end_if_over(self, key: str, course: _Course) -> None:
        """It is over once who waits has started or is gone; or has had its time since its victims
        are gone, or should be.
        """
        plan, now = course.plan, self._clock()
        one = waiting_one(self._ledger, key, plan.card)
        if one is None:
            course.over = True
            if key in self._ledger.pods:
                return  # it is about to go, and what stands on it with it
        elif not course.over:
            if self._to_end(course) or any(map(self._is_leaving, plan.victims)):
                course.vacated = None
                return
            course.vacated = now if course.vacated is None else course.vacated
            if now - course.vacated < self._timeout:
                return
            course.over, course.gave_up = True, int(self._wall_clock())
            self._tells.gave_up(key, plan)
        self._keep_rooms()
        left = plan._replace(gave_up=course.gave_up) if course.gave_up else None
        await self._plan_writer.write(key, left)

    def _to_end(self, course: _Course) -> list[str]:
        """Uids of victims that are still to be asked to end, or were and do not end yet."""
        pods, left_out = self._ledger.pods, self._left_out
        return [
            uid
            for uid in course.plan.victims
            if uid in pods and not pods[uid].facts.terminating and uid not in left_out
        ]

    def _ends(self, uid: str) -> bool:
        """Whether a pod is gone, or is being deleted."""
        record = self._ledger.pods.get(uid)
        return record is None or record.facts.terminating

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

    async def _carry_out(self, key: str, course: _Course) -> bool:
        """Ask those to end who are left, as far as the budgets allow. Returns whether others may be
        asked in this look.
        """
        plan = course.plan
        for uid in [] if course.over else self._to_end(course):
            record, now = self._ledger.pods.get(uid), self._clock()
            if self._stop.is_set() or self._writer.closed:
                return False
            one = waiting_one(self._ledger, key, plan.card)
            if one is None or key not in self._courses:
                return True
            if record is None or now - course.asked.get(uid, -_ASK_AGAIN) < _ASK_AGAIN:
                continue
            way, past = ReclaimWay(plan.way), self._reclaim.past_admission
            leaving = self._leaving(record.queue, uid)
            if not may_still_end(self._ledger, record, way, leaving, past_admission=past):
                self._leave_out(uid, course)
                continue
            if not self._budget.allows(record.queue):
                continue
            why = self._tells.why(record, plan, one)
            answer = await self._evictor.ask(record.facts)
            if answer in (EvictionAnswer.ENDS, EvictionAnswer.UNKNOWN):
                self._budget.spend(record.queue)
                course.asked[uid] = now
            if answer is EvictionAnswer.ENDS:
                self._metrics.evictions.labels(record.queue, plan.way).inc()
                self._tells.ended(record, *why)
            elif answer is EvictionAnswer.REFUSED:
                self._refused(uid, record.queue)
                self._leave_out(uid, course)
            elif answer in _STOPS:
                return False
        one = waiting_one(self._ledger, key, plan.card)
        asked = all(uid in course.asked for uid in self._to_end(course))
        if asked and one is not None and not (course.over or course.told):
            course.told = True
            self._tells.room_made(key, plan, one)
        return True

    def _leave_out(self, uid: str, course: _Course) -> None:
        self._left_out[uid] = self._clock() + LEFT_OUT
        course.short = True

    def _refused(self, uid: str, queue: str) -> None:
        self._left_out[uid] = self._clock() + LEFT_OUT
        self._metrics.evictions_refused.labels(queue).inc()

    def _leaving(self, queue: str, but: str) -> dict[tuple[str, str], int]:
        """What pods of a queue hold that are being deleted, or were asked to end, but this one."""
        asked = (uid for course in self._courses.values() for uid in course.asked)
        found: dict[tuple[str, str], int] = {}
        for uid in {*self._ledger.being_deleted, *asked} - {but}:
            record = self._ledger.pods.get(uid)
            if record is not None and record.queue == queue and record.facts.node:
                for card, amount in record.charge:
                    if is_card(card):
                        found[queue, card] = found.get((queue, card), 0) + amount
        return found

    # --- new plans ----------------------------------------------------------------------------

    async def _plan(self) -> None:
        """One round: those whose plan is carried out come first, so that nobody else is promised
        their room.
        """
        waiting = await self._waiting()
        excluded = set(self._left_out)
        past = self._reclaim.past_admission
        found = await in_slices(
            plans(self._ledger, waiting, excluded, past_admission=past, now=self._wall_clock())
        )
        for result in found:
            if self._stop.is_set():
                return
            if isinstance(result, Plan):
                await self._take(result)

    async def _waiting(self) -> list[Beneficiary]:
        """Who waits for room, in order, as far as something may be done for it now."""
        now, wall = self._clock(), self._wall_clock()
        created = time_text(int(max(0.0, wall - self._preempt_after)))
        found = await in_slices(
            reclaim_waiters(self._ledger, self._notes.since, now, self._reclaim.after)
        )
        found += await in_slices(preempt_waiters(self._ledger, created))
        closed = self._ledger.kept_rooms
        carried_out = [one for one in found if one.key in self._courses]
        others = [
            one
            for one in found
            if one.key not in self._courses and one.card not in closed and self._may_have(one)
        ]
        others.sort(key=lambda one: self._looked.get(one.key, 0.0))
        del others[_MOST:]
        looked = {one.key: self._looked[one.key] for one in found if one.key in self._looked}
        self._looked = {**looked, **{one.key: now for one in others}}
        return [*carried_out, *others]

    def _may_have(self, one: Beneficiary) -> bool:
        """Whether anything may be done, or said, for it now."""
        mode = self._mode_of(one)
        if mode is ReclaimMode.DRY_RUN:
            return self._clock() - self._would.get(one.key, -PAUSE) >= PAUSE
        before = self._ledger.plans.get(one.key)
        paused = before is not None and self._wall_clock() - before.gave_up < PAUSE
        return mode is ReclaimMode.ON and not paused

    def _mode_of(self, one: Beneficiary) -> ReclaimMode:
        account = self._ledger.account(one.queue)
        facts = account.facts if account is not None else None
        return self._reclaim.mode_in(facts.reclaim_mode if facts is not None else None)

    async def _take(self, plan: Plan) -> None:
        """Carry out a plan, or say that it would be."""
        one = plan.beneficiary
        course = self._courses.get(one.key)
        if course is not None:
            if course.short and not course.over:
                await self._extend(course, plan)
            return
        if one.card in self._ledger.kept_rooms or not all(map(self._budget.allows, plan.queues)):
            return
        if self._mode_of(one) is ReclaimMode.DRY_RUN:
            self._would[one.key] = self._clock()
            for victim in plan.victims:
                self._budget.spend(victim.queue)
                self._metrics.would_evict.labels(victim.queue, one.way).inc()
            self._tells.would_reclaim(plan)
            return
        victims = tuple(victim.uid for victim in plan.victims)
        record = PlanRecord(self._term, int(self._wall_clock()), one.way, one.card, victims)
        room = KeptRoom(one.key, one.namespace, one.name, one.gang)
        self._unconfirmed[one.card] = _Unconfirmed(room, self._clock() + _ASK_AGAIN)
        self._keep_rooms()
        if await self._may_end(plan) and await self._plan_writer.write(one.key, record):
            self._unconfirmed[one.card].until = self._clock() + _ASK_AGAIN
        else:
            del self._unconfirmed[one.card]
            self._keep_rooms()

    async def _extend(self, course: _Course, plan: Plan) -> None:
        """Others end instead of those that may not."""
        if not await self._may_end(plan):
            return
        pods, asked = self._ledger.pods, course.asked
        old = [u for u in course.plan.victims if u in pods and (self._ends(u) or u in asked)]
        victims = dict.fromkeys([*old, *(victim.uid for victim in plan.victims)])
        record = course.plan._replace(term=self._term, victims=tuple(victims)[:MOST_VICTIMS])
        if await self._plan_writer.write(plan.beneficiary.key, record):
            course.short = False

    async def _may_end(self, plan: Plan) -> bool:
        """Ask by dry run for all of them: who may not end is left out of the next plan."""
        found = True
        for victim in plan.victims:
            record = self._ledger.pods.get(victim.uid)
            if record is None or record.facts.terminating:
                continue
            answer = await self._evictor.ask(record.facts, dry_run=True)
            if self._stop.is_set() or answer in _STOPS:
                return False
            if answer is EvictionAnswer.REFUSED:
                self._refused(victim.uid, victim.queue)
                found = False
        for gang in whole_gangs(plan.victims):
            answer = await gang_may_end(self._writer, gang)
            if self._stop.is_set() or answer in _STOPS:
                return False
            if answer is EvictionAnswer.REFUSED:
                for victim in gang:
                    self._refused(victim.uid, victim.queue)
                found = False
        return found

    # --- the room that is made ----------------------------------------------------------------

    def _keep_rooms(self) -> None:
        """Nobody else is released for a card for which pods end."""
        rooms = {card: one.room for card, one in self._unconfirmed.items()}
        for key, course in self._courses.items():
            one = waiting_one(self._ledger, key, course.plan.card)
            if one is not None and not course.over:
                room = KeptRoom(key, one.namespace, one.name, one.group)
                rooms.setdefault(course.plan.card, room)
        if rooms != self._ledger.kept_rooms:
            self._ledger.decisions.keep_rooms(rooms)
            self._changed()

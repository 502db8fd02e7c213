"""Who is asked to end, who may not, and who did not answer, in one term (L5)."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from ...cluster.writes import FencedWriter
from ...metrics import Metrics
from ...quota.ledger.ledger_reader import LedgerReader
from ...quota.pods.pod_record import PodRecord
from ...quota.reclaim.plan import Beneficiary
from .course import Course, ends
from .evictions import LEFT_OUT, EvictionAnswer, EvictionBudget, Evictor
from .gang_budgets import gang_may_end
from .reclaim_events import ReclaimEvents

NO_ANSWERS: Final = (EvictionAnswer.UNKNOWN, EvictionAnswer.NOT_NOW)
"""After one of these no other pod is asked for the same plan in this look."""
_MOST_UNANSWERED: Final = 3
"""So many in a row of one pod count as a refusal: else it would hold up its plan for ever."""
_UNHEARD: Final = 60.0
"""Seconds from an Eviction without an answer until nobody takes a pod's end for its doing."""


@dataclass(slots=True)
class _Unheard:
    """An Eviction that may have been done: what is said once the pod is seen to end."""

    record: PodRecord
    way: str
    why: tuple[str, str]
    until: float


class Ending:
    """Asks pods to end, and tells and counts those that do, each once. Belongs to the ledger's
    loop.
    """

    def __init__(
        self,
        ledger: LedgerReader,
        writer: FencedWriter,
        term: str,
        tells: ReclaimEvents,
        metrics: Metrics,
        budget: EvictionBudget,
        clock: Callable[[], float],
    ) -> None:
        """`writer`: for decisions. `budget`: from which each that ends is taken. `clock`: seconds,
        monotonic.
        """
        self._ledger = ledger
        self._writer = writer
        self._evictor = Evictor(writer, term)
        self._tells = tells
        self._metrics = metrics
        self._budget = budget
        self._clock = clock
        self._left_out: dict[str, float] = {}
        self._unanswered: dict[str, int] = {}
        """By uid: how many Evictions in a row had no answer."""
        self._unheard: dict[str, _Unheard] = {}
        """By uid."""

    @property
    def left_out(self) -> Mapping[str, float]:
        """By uid: pods that may not end, until when nobody asks again."""
        return self._left_out

    def look(self) -> None:
        """Forget what has run out, and tell of pods that are seen to end."""
        now, pods = self._clock(), self._ledger.pods
        self._left_out = {uid: until for uid, until in self._left_out.items() if until > now}
        self._unanswered = {uid: n for uid, n in self._unanswered.items() if uid in pods}
        for uid, said in list(self._unheard.items()):
            if ends(self._ledger, uid):
                self._tell(said)
            elif said.until <= now:
                del self._unheard[uid]

    def leave_out(self, uids: Collection[str]) -> None:
        """From new plans, for a while."""
        self._left_out.update(dict.fromkeys(uids, self._clock() + LEFT_OUT))

    async def could_end(self, record: PodRecord) -> EvictionAnswer:
        """Whether a pod could, by itself."""
        return self._counted(record, await self._evictor.ask(record.facts, dry_run=True))

    async def could_all_end(self, unit: Sequence[PodRecord]) -> EvictionAnswer:
        """Whether pods that end together could, one after the other, by the budgets of now."""
        bound = [record.facts for record in unit if record.facts.node]
        if len(bound) < 2:
            return EvictionAnswer.ENDS
        answer = await gang_may_end(self._writer, bound)
        if answer is EvictionAnswer.REFUSED:
            self._metrics.evictions_refused.labels(unit[0].queue).inc(len(bound))
            self.leave_out([facts.uid for facts in bound])
        return answer

    async def end(self, record: PodRecord, course: Course, one: Beneficiary) -> EvictionAnswer:
        """Ask a pod to end for one that waits, which is noted in its course."""
        uid, plan, now = record.facts.uid, course.plan, self._clock()
        why = self._tells.why(record, plan, one)
        answer = await self._evictor.ask(record.facts)
        if answer in (EvictionAnswer.ENDS, EvictionAnswer.UNKNOWN):
            if uid not in course.asked:
                self._budget.spend(record.queue)
            course.asked[uid] = now
            if uid not in course.ended:
                said = self._unheard[uid] = _Unheard(record, plan.way, why, now + _UNHEARD)
                if answer is EvictionAnswer.ENDS:
                    course.ended.add(uid)
                    self._tell(said)
        return self._counted(record, answer)

    def _tell(self, said: _Unheard) -> None:
        del self._unheard[said.record.facts.uid]
        self._metrics.evictions.labels(said.record.queue, said.way).inc()
        self._tells.ended(said.record, *said.why)

    def _counted(self, record: PodRecord, answer: EvictionAnswer) -> EvictionAnswer:
        """What an answer means after those before it. Who is refused is left out."""
        uid = record.facts.uid
        before = self._unanswered.pop(uid, 0)
        if answer in NO_ANSWERS:
            if before + 1 < _MOST_UNANSWERED:
                self._unanswered[uid] = before + 1
                return answer
            answer = EvictionAnswer.REFUSED
        if answer is EvictionAnswer.REFUSED:
            self._metrics.evictions_refused.labels(record.queue).inc()
            self.leave_out([uid])
        return answer

"""The section `reclaim`: what would be ended now for whom, who waits in vain, and what was ended
for somebody and does not go, or was no help (L7).
"""

from collections.abc import Iterator
from typing import Final

from ...quota import vocabulary as v
from ...quota.amounts import is_card
from ...quota.answers.reclaim_answer import lacks_quota, obstacle_text
from ...quota.ledger.ledger import Ledger
from ...quota.messages import reclaim_answer_messages as m
from ...quota.messages.reclaim_messages import gave_up, not_gone, who_waits
from ...quota.reclaim.beneficiaries import may_have_room_made, reclaim_waiters
from ...quota.reclaim.pauses import in_vain, paused_until
from ...quota.reclaim.places import served_by_plans, taken_places, uncertain_cards
from ...quota.reclaim.plan import PAUSE, Beneficiary, NoPlan, Plan
from ...quota.reclaim.planner import plans
from ...quota.reclaim.progress import time_given, waiting_one
from ...quota.reclaim.slots import LATE
from ...quota.steps import to_its_end
from ...quota.words import MOST_LISTED, time_text
from ...settings import Settings
from .checked_cluster import JUDGED_BY, CheckedCluster
from .section import CheckSection, Finding, FindingKind, section_of

RECLAIM: Final = "reclaim"
MOST_TOLD: Final = 10
"""Of those for whom pods would end, and of those for whom none would, so many are told."""
_MOST: Final = 256
"""Of those who wait, so many are looked at."""


def reclaim_section(read: CheckedCluster, settings: Settings, now: float) -> CheckSection:
    """Empty where reclaim is off. `now`: seconds since 1970. Plans are notes: nobody need do
    anything. Costs by the pods, and by who waits.
    """
    reclaim = settings.reclaim
    if reclaim.mode is v.ReclaimMode.OFF:
        return CheckSection(RECLAIM)
    lacking = read.not_known(JUDGED_BY)
    if lacking:
        return section_of(RECLAIM, [], lacking, "it is not known what would be ended")
    mode = m.mode_is(reclaim.mode, reclaim.after, settings.preempt.after)
    found = [*_in_vain(read.ledger, settings, now)]
    notes = _Notes(read.ledger, settings, now).all()
    return section_of(RECLAIM, found, [], "", mode, *notes)


class _Notes:
    """Of those for whom pods end, or would; then of those for whom none would."""

    def __init__(self, ledger: Ledger, settings: Settings, now: float) -> None:
        self._ledger = ledger
        self._reclaim = settings.reclaim
        self._now = now
        self._in_vain = in_vain(ledger, now).values()
        self._open = {key: plan for key, plan in ledger.plans.items() if not plan.gave_up}

    def all(self) -> Iterator[str]:
        """As they are printed."""
        for key in list(self._open)[:MOST_TOLD]:
            yield from self._under_way(key)
        taken = taken_places(self._ledger)
        waiting = [one for one in self._waiting() if self._is_asked(one)]
        others = [one for one in waiting if not taken.bar(one)]
        past = self._reclaim.past_admission
        before = served_by_plans(self._ledger)
        those = [*before.values(), *others[:_MOST]]
        results = to_its_end(plans(self._ledger, those, past_admission=past, now=self._now))
        unsure = uncertain_cards(self._ledger, results)
        found = [result for result in results if result.beneficiary.key not in before]
        made = [one for one in found if isinstance(one, Plan)]
        ends = [self._would_end(one) for one in made if one.cards.isdisjoint(unsure)]
        yield from ends[:MOST_TOLD]
        if len(ends) > MOST_TOLD:
            yield m.more_wait(len(ends) - MOST_TOLD, would_end=True)
        vain = [
            *(_of(one.beneficiary, obstacle_text(one)) for one in found if isinstance(one, NoPlan)),
            *(_of(one, m.ends_for_another(one.card)) for one in waiting if taken.bar(one)),
            *(
                _of(one.beneficiary, m.ends_for_another(one.beneficiary.card))
                for one in made
                if one.cards & unsure
            ),
        ]
        yield from vain[:MOST_TOLD]
        if len(vain) > MOST_TOLD:
            yield m.more_wait(len(vain) - MOST_TOLD, would_end=False)
        if len(others) > _MOST:
            yield m.not_looked_at(len(others) - _MOST)

    def _under_way(self, key: str) -> Iterator[str]:
        plan, pods = self._open[key], self._ledger.pods
        one = waiting_one(self._ledger, key, plan.card)
        if one is None:
            return
        there = [pods[uid].facts for uid in plan.victims if uid in pods]
        names = [f"{facts.namespace}/{facts.name}" for facts in there][:MOST_LISTED]
        number, since = len(plan.victims), time_text(plan.since)
        text = m.ends_for_it(plan.card, since, number, len(there), names)
        yield m.stands(_who(one), one.queue, text)

    def _would_end(self, plan: Plan) -> str:
        one = plan.beneficiary
        victims = [f"{victim.namespace}/{victim.name}" for victim in plan.victims]
        return m.would_end(_who(one), one.queue, one.card, one.amount, victims)

    def _waiting(self) -> list[Beneficiary]:
        """However long: first who has no node, then who lacks quota, of equal pods the first."""
        ledger = self._ledger
        found = to_its_end(reclaim_waiters(ledger, {}, 0.0, 0.0))
        at_the_gate = dict[str, Beneficiary]()
        for account in ledger.accounts():
            for pod_class in account.pending.classes.values():
                uids = [sort_key.uid for sort_key in pod_class.sort_keys[:1]]
                for record in filter(None, map(ledger.pods.get, uids)):
                    one = lacks_quota(ledger, record)
                    if one is not None and may_have_room_made(ledger, one[1]):
                        at_the_gate.setdefault(one[0].key, one[0])
        return found + sorted(at_the_gate.values(), key=lambda one: (-one.priority, one.key))

    def _is_asked(self, one: Beneficiary) -> bool:
        """Whether its queue wants it, and nothing was decided for it."""
        account = self._ledger.account(one.queue)
        facts = account.facts if account is not None else None
        mode = self._reclaim.mode_in(facts.reclaim_mode if facts is not None else None)
        plan = self._ledger.plans.get(one.key)
        decided = plan is not None and self._now < (plan.gave_up or self._now) + PAUSE
        if mode is v.ReclaimMode.ON:
            decided = decided or paused_until(self._in_vain, one.queue, one.card) is not None
        return mode is not v.ReclaimMode.OFF and not decided


def _of(one: Beneficiary, text: str) -> str:
    return m.stands(_who(one), one.queue, text)


def _who(one: Beneficiary) -> str:
    return who_waits(f"{one.namespace}/{one.name}", group=one.gang, named=True)


def _in_vain(ledger: Ledger, settings: Settings, now: float) -> Iterator[Finding]:
    """Pods that were ended for others and do not go; and who did not start in the room that was
    made.
    """
    for key, plan in sorted(ledger.plans.items()):
        for record in filter(None, map(ledger.pods.get, plan.victims)):
            facts = record.facts
            late = now - facts.gone_by if facts.gone_by is not None else 0.0
            if late > LATE:
                why, _, advice = not_gone(int(late)).partition("; ")
                about = "Pod", facts.namespace, facts.name
                cards = {card: n for card, n in record.charge if is_card(card)}
                queue = record.queue
                yield Finding(
                    *(FindingKind.RECLAIM, *about, v.NOT_GONE, why, advice),
                    queue=queue,
                    cards=cards,
                )
        one = waiting_one(ledger, key, plan.card)
        if one is not None and plan.gave_up and now < plan.gave_up + PAUSE:
            within = time_given(plan, settings.reservation_timeout)
            why, _, advice = gave_up(plan.card, within).partition("; ")
            about = "PodGroup" if one.gang else "Pod", one.namespace, one.name
            yield Finding(
                *(FindingKind.RECLAIM, *about, v.RECLAIM_GAVE_UP, why, advice),
                queue=one.queue,
                cards={plan.card: one.amount},
            )

"""Whether cards can be taken back for one that waits, and whether one that has cards may be ended
for others (L7).

As any replica knows it: what only the leader knows, as which limits of evictions are used up, is
not told. Nothing is charged or ended here.
"""

from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from math import ceil
from typing import Final

from ..accounts.account import OUTSIDE
from ..amounts import is_card
from ..ledger.ledger_reader import LedgerReader
from ..messages import reclaim_answer_messages as m
from ..messages.reclaim_messages import who_waits
from ..pods.pod_facts import State
from ..pods.pod_record import ChargeState, PodRecord
from ..reclaim.beneficiaries import (
    beneficiary_of,
    cards_asked,
    gang_of,
    is_owed,
    may_have_room_made,
    reclaim_waiters,
    waits_for_node,
    waits_with,
)
from ..reclaim.pauses import MOST_IN_VAIN, in_vain, paused_until
from ..reclaim.places import served_by_plans, taken_places, uncertain_cards
from ..reclaim.plan import MOST_VICTIMS, PAUSE, Beneficiary, NoPlan, Obstacle, Plan, ReclaimWay
from ..reclaim.planner import plans
from ..reclaim.progress import waiting_one
from ..reclaim.victims import Protection, protection_of, staying_members
from ..steps import Steps
from ..vocabulary import Mode, ReclaimMode
from ..words import seconds_of, time_text
from .answer_forms import CardAmount, GivingQueue, ReclaimAnswer, choice_amounts, told_name
from .waiting import lacking_cards_alone

MOST_NAMED: Final = 5
"""Queues, or pods, that are named."""


@dataclass(frozen=True, slots=True)
class ReclaimRules:
    """How cards are taken back here, and what is known of since when pods wait."""

    mode_in: Callable[[ReclaimMode | None], ReclaimMode]
    """For what waits in a queue, by what that says (L6)."""
    after: float
    """Seconds (L3)."""
    preempt_after: float
    """Seconds (L3)."""
    past_admission: bool
    """Whether pods may end that came past admission."""
    refused: Collection[str]
    """Uids of pods whose eviction was refused a while ago, as far as this replica knows."""
    since: Mapping[str, float]
    """By uid of a pod without a node: when this replica first saw it so, by the clock of `now`."""
    now: float
    """Seconds, monotonic."""
    wall: float
    """Seconds since 1970."""


def for_waiting(
    ledger: LedgerReader, record: PodRecord, rules: ReclaimRules
) -> Steps[ReclaimAnswer | None]:
    """What can be taken back for a pod, or its gang, that waits at our gate or for a node. None: it
    does not wait for cards. Costs by all pods, in steps of some milliseconds; that only for one for
    which something may be ended.
    """
    found = lacks_quota(ledger, record) if record.gated else _lacks_node(ledger, record)
    if found is None:
        return None
    one, members = found
    told = (
        _plan_told(ledger, one, record, rules)
        or _not_asked(ledger, one, members, rules)
        or _paused(ledger, one, rules)
        or _behind(ledger, one)
    )
    if told is not None:
        return told
    if not may_have_room_made(ledger, members):
        return None
    past, now = rules.past_admission, rules.wall
    waiting = [*served_by_plans(ledger).values(), one]
    results = yield from plans(ledger, waiting, rules.refused, past_admission=past, now=now)
    result = next((result for result in results if result.beneficiary.key == one.key), None)
    if isinstance(result, Plan):
        if not result.cards.isdisjoint(uncertain_cards(ledger, results)):
            return _told("Behind", m.ends_for_another(one.card), one)
        return _could_end(ledger, result, members, rules)
    return _obstacle(result, one)


def lacks_quota(
    ledger: LedgerReader, record: PodRecord
) -> tuple[Beneficiary, Sequence[PodRecord]] | None:
    """The pod at our gate, or its gang, and the pods that start together. None: it lacks something
    else than cards of its queue's quota, or nothing.
    """
    members, group = lacking_cards_alone(ledger, record), gang_of(ledger, record)
    if group is not None and group.started:
        group = None  # its members go one by one
    asked = (one.request.cards for one in members if one.request and one.request.amount)
    card = next((cards[0] for cards in asked if cards), "")
    return (beneficiary_of(ReclaimWay.PREEMPT, members, group, card), members) if card else None


def _lacks_node(
    ledger: LedgerReader, record: PodRecord
) -> tuple[Beneficiary, Sequence[PodRecord]] | None:
    """The same of one that was released, if no node was found for it, or for any of its gang."""
    if not waits_for_node(record):
        return None
    group, members = waits_with(ledger, record)
    waiting = members if group is None else group.members.values()
    if not any(one.facts.uid in ledger.unplaced for one in waiting):
        return None
    charged = (card for one in members for card, n in one.charge if n and is_card(card))
    card = next(charged, "")
    return (beneficiary_of(ReclaimWay.RECLAIM, members, group, card), members) if card else None


def _told(state: str, message: str, one: Beneficiary) -> ReclaimAnswer:
    return ReclaimAnswer(state=state, message=message, way=one.way, card=told_name(one.card))


def _plan_told(
    ledger: LedgerReader, one: Beneficiary, record: PodRecord, rules: ReclaimRules
) -> ReclaimAnswer | None:
    """What stands on who waits: that pods end for it, or did in vain."""
    plan = ledger.plans.get(one.key)
    if plan is not None and plan.gave_up:
        again = plan.gave_up + PAUSE
        if rules.wall < again:
            text = m.ended_in_vain(plan.card, len(plan.victims), time_text(again))
            return _told("GaveUp", text, one)
    elif plan is not None:
        there = [ledger.pods[uid].facts for uid in plan.victims if uid in ledger.pods]
        own = (facts.name for facts in there if facts.namespace == record.facts.namespace)
        named = sorted(own)[:MOST_NAMED]
        number, since = len(plan.victims), time_text(plan.since)
        return _told("UnderWay", m.ends_for_it(plan.card, since, number, len(there), named), one)
    return None


def _behind(ledger: LedgerReader, one: Beneficiary) -> ReclaimAnswer | None:
    barred = taken_places(ledger).bar(one)
    return _told("Behind", m.ends_for_another(one.card), one) if barred else None


def _not_asked(
    ledger: LedgerReader, one: Beneficiary, members: Sequence[PodRecord], rules: ReclaimRules
) -> ReclaimAnswer | None:
    """Why nothing is ever planned for it, as things stand."""
    account = ledger.account(one.queue)
    facts = account.facts if account is not None else None
    if account is None or facts is None:
        return None
    if rules.mode_in(facts.reclaim_mode) is ReclaimMode.OFF:
        return _told("Off", m.off_in_queue(one.queue), one)
    if any(member.facts.never_preempts for member in members):
        return _told("NeverPreempts", m.never_preempts(), one)
    if one.way is ReclaimWay.PREEMPT or is_owed(ledger, members):
        return None
    for card, asked in cards_asked(members).items():
        held = account.row(card).by_charge_state[ChargeState.ALLOCATED]
        deserved = ledger.shares.shown(one.queue, card)
        if held + asked > deserved:
            return _told("NotOwed", m.not_owed(one.queue, card, asked, held, deserved), one)
    return None


def _paused(ledger: LedgerReader, one: Beneficiary, rules: ReclaimRules) -> ReclaimAnswer | None:
    """Several others of its queue did not start in the room that was made for them."""
    until = paused_until(in_vain(ledger, rules.wall).values(), one.queue, one.card)
    if until is None or _mode_for(ledger, one, rules) is not ReclaimMode.ON:
        return None
    return _told("Paused", m.paused(one.queue, one.card, MOST_IN_VAIN, time_text(int(until))), one)


def _mode_for(ledger: LedgerReader, one: Beneficiary, rules: ReclaimRules) -> ReclaimMode:
    account = ledger.account(one.queue)
    facts = account.facts if account is not None else None
    return rules.mode_in(facts.reclaim_mode if facts is not None else None)


def _could_end(
    ledger: LedgerReader, plan: Plan, members: Sequence[PodRecord], rules: ReclaimRules
) -> ReclaimAnswer:
    one = plan.beneficiary
    dry_run = _mode_for(ledger, one, rules) is ReclaimMode.DRY_RUN
    seconds, pods = _due(members, one, rules), len(plan.victims)
    if one.way is ReclaimWay.RECLAIM:
        queues = [*plan.queues]
        text = m.could_end(one.card, plan.freed, pods, queues, seconds, dry_run=dry_run)
    else:
        text = m.could_preempt(one.card, plan.freed, pods, one.queue, seconds, dry_run=dry_run)
    return ReclaimAnswer(
        state="DryRun" if dry_run else "Possible",
        message=text,
        way=one.way,
        card=told_name(one.card),
        queues=tuple(_giving(plan)),
        within_seconds=seconds,
    )


def _due(members: Sequence[PodRecord], one: Beneficiary, rules: ReclaimRules) -> int:
    """In how many seconds it will have waited for long enough, at most. Where another replica leads
    it may have seen a pod without a node before this one did.
    """
    if one.way is ReclaimWay.RECLAIM:
        seen = (rules.since.get(member.facts.uid, rules.now) for member in members)
        return max(0, ceil(min(seen) + rules.after - rules.now))
    created = seconds_of(min(members, key=lambda member: member.sort_key).facts.created) or 0
    return max(0, ceil(created + rules.preempt_after - rules.wall))


def _giving(plan: Plan) -> list[GivingQueue]:
    found = []
    for queue in islice(plan.queues, MOST_NAMED):
        victims = [victim for victim in plan.victims if victim.queue == queue]
        held = Counter[str]()
        for victim in victims:
            held.update({card: n for card, n in victim.charge if is_card(card)})
        cards: tuple[CardAmount, ...] = choice_amounts(((c,), n) for c, n in held.items())
        found.append(GivingQueue(queue=queue, pods=len(victims), cards=cards))
    return found


def _obstacle(result: NoPlan | None, asked: Beneficiary) -> ReclaimAnswer:
    """Why nothing can be ended for it. None: nothing needs to be."""
    if result is None:
        return _told("RoomOnNodes", m.room_on_nodes(asked.card), asked)
    return _told(result.obstacle, obstacle_text(result), result.beneficiary)


def obstacle_text(result: NoPlan) -> str:
    """Why nothing can be ended for one that waits, as a sentence."""
    one, queues = result.beneficiary, result.queues
    match result.obstacle:
        case Obstacle.NOBODY_ABOVE if one.way is ReclaimWay.PREEMPT:
            return m.nobody_lower(one.queue)
        case Obstacle.NOBODY_ABOVE:
            return m.nobody_above(one.card)
        case Obstacle.LITTLE_ABOVE:
            return m.little_above(one.card, result.above, one.amount)
        case Obstacle.PROTECTED:
            return m.all_protected(queues)
        case Obstacle.BUDGET:
            return m.budget_keeps(queues)
        case Obstacle.NO_ROOM_ON_NODES:
            return m.no_room_on_nodes(one.card)
        case Obstacle.TOO_MANY:
            return m.too_many(MOST_VICTIMS)
        case Obstacle.LEAVING:
            return m.enough_leaves(one.card)


# --- one that has cards ---------------------------------------------------------------------------


def for_holding(
    ledger: LedgerReader, record: PodRecord, rules: ReclaimRules
) -> Steps[ReclaimAnswer | None]:
    """Whether a pod on a node may be ended for others, and for whom. None: it holds no card of a
    queue. Costs by the pods of its group, and by those that have no node.
    """
    card = next((card for card, n in record.charge if n and is_card(card)), "")
    if not card or record.queue == OUTSIDE or record.facts.state is not State.BOUND:
        return None
    ends = _ends(ledger, record)
    if ends is not None or record.facts.terminating:
        return ends
    unit, elastic = _unit(ledger, record)
    never = _never(ledger, record, unit, rules)
    if never is not None:
        return never
    needing = yield from _needing(ledger, card, record.queue)
    said = m.unit_text(len(unit), elastic=elastic)
    state, text = _for_queues(ledger, record.queue, card, (unit, said), needing)
    dry_run = rules.mode_in(None) is ReclaimMode.DRY_RUN
    text = m.for_higher_priority(text, record.facts.priority, dry_run=dry_run)
    return ReclaimAnswer(state=state, message=text, card=told_name(card))


_NEVER: Final = {
    Protection.NOT_PREEMPTABLE: m.never_preemptable(),
    Protection.PAST_ADMISSION: m.never_past_admission(),
    Protection.STATIC_POD: m.never_static(),
    Protection.NOT_ENFORCED: m.never_unenforced(),
}


def _never(
    ledger: LedgerReader, record: PodRecord, unit: Sequence[PodRecord], rules: ReclaimRules
) -> ReclaimAnswer | None:
    """Why a pod is never ended for anybody, as things stand: by what holds for it, or for one that
    would have to end with it.
    """
    for one in sorted(unit, key=lambda one: one is not record):
        enforced = ledger.mode_in(one.facts.namespace) is Mode.ENFORCE
        found = protection_of(ledger, one, past=rules.past_admission, enforced=enforced)
        if found is not None:
            text = _NEVER[found]
            said = text if one is record else m.never_without(one.facts.name, len(unit), text)
            return ReclaimAnswer(state=found, message=said)
    if len(unit) > MOST_VICTIMS:
        said = m.never_so_many(len(unit), MOST_VICTIMS)
        return ReclaimAnswer(state=Obstacle.TOO_MANY, message=said)
    return None


def _ends(ledger: LedgerReader, record: PodRecord) -> ReclaimAnswer | None:
    """For whom it was chosen to end, who is named only within its namespace. None: it was not."""
    for key, plan in ledger.plans.items():
        one = None
        if not plan.gave_up and record.facts.uid in plan.victims:
            one = waiting_one(ledger, key, plan.card)
        if one is not None:
            named = one.namespace == record.facts.namespace
            who = who_waits(f"{one.namespace}/{one.name}", group=one.gang, named=named)
            text = m.ends_for(who, one.queue, time_text(plan.since))
            return ReclaimAnswer(
                state="Ends", message=text, way=plan.way, card=told_name(plan.card)
            )
    return None


def _needing(ledger: LedgerReader, card: str, own: str) -> Steps[list[tuple[str, int]]]:
    """The other queues that wait for a card which they deserve, with how much they ask for: those
    with the most first.
    """
    waiting = yield from reclaim_waiters(ledger, {}, 0.0, 0.0)
    asked = Counter[str]()
    for one in waiting:
        if one.card == card and one.queue != own:
            asked[one.queue] += one.amount
    return sorted(asked.items(), key=lambda row: (-row[1], row[0]))[:MOST_NAMED]


def _for_queues(
    ledger: LedgerReader,
    queue: str,
    card: str,
    ends: tuple[Sequence[PodRecord], str],
    needing: Sequence[tuple[str, int]],
) -> tuple[str, str]:
    """State and sentence: whether other queues may have its cards. `ends`: what ends with it, also
    in words.
    """
    unit, text = ends
    account = ledger.account(queue)
    if account is None or account.facts is None or not account.facts.reclaimable:
        return "NotReclaimable", m.queue_gives_nothing(queue)
    amounts = Counter[str]()
    for one in unit:
        amounts.update({name: n for name, n in one.charge if n and is_card(name)})
    for name in sorted(amounts, key=lambda name: name != card):
        held = account.row(name).by_charge_state[ChargeState.ALLOCATED]
        numbers = held, ledger.shares.shown(queue, name)
        if held <= numbers[1]:
            return "NothingBorrowed", m.nothing_borrowed(queue, name, numbers)
        if amounts[name] > held - numbers[1]:
            said = m.more_than_borrowed(queue, name, numbers, text, amounts[name])
            return "MoreThanBorrowed", said
    held = account.row(card).by_charge_state[ChargeState.ALLOCATED]
    numbers = held, ledger.shares.shown(queue, card)
    return "MayEnd", m.may_end(queue, card, numbers, text, needing)


def _unit(ledger: LedgerReader, record: PodRecord) -> tuple[list[PodRecord], bool]:
    """The pods that end together with one; and whether it is elastic."""
    group = ledger.groups.get(record.facts.group) if record.facts.group else None
    if group is None:
        return [record], False
    staying = staying_members(group)
    if any(one is record for one in staying.elastic):
        return [record], True
    return staying.everybody if group.gang or group.facts is None else [record], False

"""How far a plan has come that is carried out, as the ledger shows it (L5)."""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from typing import Final

from ..amounts import is_card
from ..ledger.groups.pod_group_state import PodGroupState
from ..ledger.ledger_reader import KeptRoom, LedgerReader
from ..plan_record import PlanRecord
from ..pods.pod_facts import State
from ..pods.pod_record import ChargeState, PodRecord
from ..steps import Steps
from ..vocabulary import Mode
from .beneficiaries import (
    AT_A_TIME,
    beneficiary_of,
    is_owed,
    lacking_members,
    waits_for_node,
)
from .plan import Beneficiary, ReclaimWay
from .victims import protection_of, staying_members

PLAN_TIME: Final = 900
"""Seconds after which those that end for a plan are not waited for any more."""

MutableLeaving = dict[tuple[str, str], int]
"""By queue and card."""


def time_given(plan: PlanRecord, timeout: float) -> float:
    """Seconds within which one should have started whose plan was given up. `timeout`: those of
    `reservationTimeout`, which begin once all that end for it are gone.
    """
    in_all = PLAN_TIME + timeout
    return in_all if plan.gave_up - plan.since >= int(in_all) else timeout


def waiting_one(ledger: LedgerReader, key: str, card: str) -> Beneficiary | None:
    """The pod, by uid, or gang, by `namespace/name`, as it waits now for a card: for nodes, or at
    the gate. None: it does no longer: it has started, is gone, or about to go.
    """
    record, group = ledger.pods.get(key), ledger.groups.get(key)
    members: Sequence[PodRecord] = ()
    if record is not None:
        leaves = record.facts.terminating or record.facts.state is State.BOUND
        members, group = () if leaves else [record], None
    elif group is not None and group.facts is not None and not has_started(group):
        there = sorted(group.members.values(), key=lambda one: one.sort_key)
        waiting = [one for one in there if one.facts.state is not State.BOUND]
        missing = max(1, group.minimum) - group.bound - len(group.succeeded)
        members = lacking_members(group) or waiting[: None if group.tasks else missing]
    if not members:
        return None
    released = all(map(waits_for_node, members))
    way = ReclaimWay.RECLAIM if released else ReclaimWay.PREEMPT
    return beneficiary_of(way, members, group, card)


def room_of(ledger: LedgerReader, plan: PlanRecord, one: Beneficiary) -> KeptRoom:
    """What is kept for one that waits (L5): the card of its plan, and any other that all pods of a
    gang need; in its queue alone, where that gives it to itself.
    """
    pods = [ledger.pods[uid] for uid in one.uids if uid in ledger.pods]
    cards = frozenset((plan.card,)).union(*map(_cards_of, pods))
    queue = one.queue if plan.way == ReclaimWay.PREEMPT else ""
    return KeptRoom(one.namespace, one.name, one.gang, cards, queue)


def has_started(group: PodGroupState) -> bool:
    """Whether a gang has its minimum on nodes: the others wait for nodes one by one (L3)."""
    return group.bound + len(group.succeeded) >= max(1, group.minimum)


def _cards_of(record: PodRecord) -> list[str]:
    """That for which it was released, or the only one that it asks for."""
    if record.request is None:
        return [card for card, amount in record.charge if amount and is_card(card)]
    return list(record.request.cards) if len(record.request.cards) == 1 else []


def started(ledger: LedgerReader, key: str) -> bool:
    """Whether the pod, or the gang, has its nodes. False too of one that is gone."""
    record, group = ledger.pods.get(key), ledger.groups.get(key)
    if record is not None:
        return record.facts.state is State.BOUND
    return group is not None and has_started(group)


def is_still_owed(ledger: LedgerReader, one: Beneficiary) -> bool:
    """Whether one waits for nodes, and its queue still deserves what it asks for (L3)."""
    members = [ledger.pods[uid] for uid in one.uids]
    return one.way is ReclaimWay.RECLAIM and is_owed(ledger, members)


def units_of(ledger: LedgerReader, uids: Collection[str]) -> Iterator[tuple[str, ...]]:
    """The pods of a plan that are there, as they end: those of a group of which all end together,
    each other one by itself. In their order.
    """
    by_group: dict[str, list[str]] = {}
    there = [ledger.pods[uid].facts for uid in uids if uid in ledger.pods]
    for facts in there:
        by_group.setdefault(facts.group or facts.uid, []).append(facts.uid)
    for key, those in by_group.items():
        group = ledger.groups.get(key)
        if group is not None and _is_whole(group, uids):
            yield tuple(those)
        else:
            yield from ((uid,) for uid in those)


def _is_whole(group: PodGroupState, uids: Collection[str]) -> bool:
    if not group.gang and group.facts is not None:
        return False
    return all(one.facts.uid in uids for one in staying_members(group).everybody)


class Leaving:
    """What pods on nodes hold that are about to go, each of them once."""

    def __init__(self) -> None:
        self._places: dict[str, tuple[tuple[tuple[str, str], int], ...]] = {}
        """By uid: queues and cards, and how many."""
        self._held: MutableLeaving = {}

    @property
    def uids(self) -> AbstractSet[str]:
        """Of these pods."""
        return self._places.keys()

    def add(self, record: PodRecord) -> None:
        """Another one that goes, unless it is known."""
        if record.facts.uid not in self._places:
            places = self._places[record.facts.uid] = tuple(_held_on_node(record))
            for place, amount in places:
                self._held[place] = self._held.get(place, 0) + amount

    def catch_up(self, ledger: LedgerReader) -> None:
        """Without those that are gone by now, and with those that are being deleted by now. Costs a
        millisecond by 5,000 of them.
        """
        for uid in [uid for uid in self._places if uid not in ledger.pods]:
            for place, amount in self._places.pop(uid):
                self._held[place] -= amount
        for uid in ledger.being_deleted.keys() - self.uids:
            if (record := ledger.pods.get(uid)) is not None:
                self.add(record)

    def with_these(self, unit: Iterable[PodRecord]) -> Mapping[tuple[str, str], int]:
        """By queue and card, of those that the unit holds: how much goes with it, in all."""
        found: MutableLeaving = {}
        for record in unit:
            for place, amount in _held_on_node(record):
                added = amount if record.facts.uid not in self.uids else 0
                found[place] = found.get(place, self._held.get(place, 0)) + added
        return found


def leaving_now(ledger: LedgerReader, asked: Collection[str]) -> Steps[Leaving]:
    """Of pods that are being deleted, and of those that were `asked` to end, by uid."""
    found = Leaving()
    for number, uid in enumerate([*ledger.being_deleted, *asked], 1):
        if number % AT_A_TIME == 0:
            yield
        if (record := ledger.pods.get(uid)) is not None:
            found.add(record)
    return found


def _held_on_node(record: PodRecord) -> Iterator[tuple[tuple[str, str], int]]:
    if record.facts.node:
        for card, amount in record.charge:
            if amount and is_card(card):
                yield (record.queue, card), amount


def may_still_end(
    ledger: LedgerReader,
    unit: Sequence[PodRecord],
    way: ReclaimWay,
    one: Beneficiary,
    leaving: Leaving,
    *,
    past_admission: bool,
) -> bool:
    """Whether pods of a plan may end together now (L4), for one that waits; the plan may have been
    made a while ago, or by somebody else. Their gangs keep their minimum, or end whole. Inside a
    queue they are of a lower priority. Between queues theirs gives back, and still holds without
    them, and without what is `leaving` besides, what it deserves.
    """
    if not all(is_unprotected(ledger, record, past_admission=past_admission) for record in unit):
        return False
    going = {record.facts.uid for record in unit} | leaving.uids
    groups = {record.facts.group for record in unit if record.facts.group}
    if not all(_keeps_its_minimum(ledger.groups.get(key), going) for key in groups):
        return False
    if way is ReclaimWay.PREEMPT:
        return all(r.queue == one.queue and r.facts.priority < one.priority for r in unit)
    for record in unit:
        account = ledger.account(record.queue)
        facts = account.facts if account is not None else None
        if facts is None or not facts.reclaimable:
            return False
    for (queue, card), amount in leaving.with_these(unit).items():
        account = ledger.account(queue)
        held = account.row(card).allocated if account is not None else 0
        if held - amount < ledger.shares.shown(queue, card):
            return False
    return True


def _keeps_its_minimum(group: PodGroupState | None, going: Collection[str]) -> bool:
    """Whether a gang has its minimum on nodes without these pods, by uid, or none stays of it."""
    if group is None or not (group.gang or group.facts is None):
        return True
    staying = staying_members(group)
    if all(one.facts.uid in going for one in staying.everybody):
        return True
    if group.tasks or group.facts is None:
        return False  # who is needed is not known
    bound = [*staying.needed, *staying.elastic]
    return sum(one.facts.uid not in going for one in bound) >= group.minimum


def is_unprotected(ledger: LedgerReader, record: PodRecord, *, past_admission: bool) -> bool:
    """Whether a pod may end at all, by what stands on it, its group and its namespace (L4)."""
    enforced = ledger.mode_in(record.facts.namespace) is Mode.ENFORCE
    protected = protection_of(ledger, record, past=past_admission, enforced=enforced)
    return protected is None and record.held and ledger.account(record.queue) is not None


def borrowed_without(ledger: LedgerReader, card: str, uids: Iterable[str]) -> int:
    """How much of a card all queues would hold on nodes beyond what they deserve, together, if
    these pods were gone. Costs by the queues.
    """
    less = Counter[str]()
    for record in filter(None, map(ledger.pods.get, uids)):
        if record.charge_state is ChargeState.ALLOCATED:
            less[record.queue] += dict(record.charge).get(card, 0)
    shown, found = ledger.shares.shown, 0
    for account in ledger.accounts():
        if account.name and card in account.rows:
            name = account.name
            found += max(0, account.row(card).allocated - less[name] - shown(name, card))
    return found

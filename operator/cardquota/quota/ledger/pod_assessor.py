"""What one pod is charged, and to whom, and with which waiting pods it shares a class: the pod read
against all that the ledger knows.
"""

from collections.abc import Hashable, Sequence
from dataclasses import replace
from typing import NamedTuple

from ..accounts.account import OUTSIDE
from ..amounts import Amounts, Charge, MutableAmounts
from ..cards.card import is_memory, model_of
from ..pending.candidate import Gang
from ..pods.pod_facts import PodFacts, State
from ..pods.pod_record import ChargeState, PodRecord
from ..pods.pod_request import PodRequest, card_devices
from ..stamp import Stamp
from ..vocabulary import Mode, Policy
from .groups.pod_group_state import PodGroupState
from .ledger_reader import LedgerReader


class PodAssessor:
    """Writes what it finds on the pod's record. No total changes here."""

    def __init__(self, state: LedgerReader) -> None:
        self._state = state

    def assess(self, record: PodRecord) -> None:
        """Sets the pod's queue, charge, charge state, request and place.

        A stamp of ours decides queue and cards (E10); without one, the pod and its node do, and
        only where that counts (I3).
        """
        facts, stamp, state = record.facts, record.stamp, self._state
        bound = facts.state is State.BOUND
        if stamp is not None:
            record.queue, record.request = stamp.queue, None
            record.elsewhere = False
            cards = self._stamped_cards(record, stamp)
            record.charge = state.with_cpu_memory(facts, stamp.queue, cards)
        else:
            record.named = state.queue_of(facts)
            counts = self._counts(record)
            record.queue = self._unstamped_queue(record, counts=counts)
            charge = self._unstamped_charge(record, bound=bound)
            record.charge = charge if counts else ()
        record.charge_state = self._charge_state(record, bound=bound)
        record.offline = bound and state.policy_by_controller(facts) is Policy.GATE
        record.place = self._place(facts)

    def _counts(self, record: PodRecord) -> bool:
        """Whether a pod without a stamp counts: once it is on its node. Before that only where it
        waits at the gate, or came past it although rules are enforced: elsewhere anybody may have
        written what it asks for (I3).
        """
        facts = record.facts
        enforced = self._state.mode_in(facts.namespace) is Mode.ENFORCE
        if record.gated:
            return enforced
        fixed = record.fixed is not None or facts.fixed_queue is not None
        record.audited = record.audited or facts.admitted_in_audit or not (enforced or fixed)
        return facts.on_its_node or not record.audited

    def _unstamped_queue(self, record: PodRecord, *, counts: bool) -> str:
        """Where a pod without a stamp is charged. At the gate of the queue that it names it holds
        nothing. Past the gate: in that queue, if it exists and is open to the namespace, else
        outside; and there it stays.
        """
        facts, state = record.facts, self._state
        if not counts or record.gated:
            return record.named if counts else OUTSIDE
        if facts.fixed_queue is not None:
            record.fixed = facts.fixed_queue
        if record.fixed is not None:
            return record.fixed
        named = record.named if state.mode_in(facts.namespace) is not Mode.OFF else OUTSIDE
        account = state.account(named)
        queue = account.facts if account is not None else None
        found = named if queue is not None and queue.admits(facts.namespace) else OUTSIDE
        if state.fixes_queues and state.knows_queue_of(facts) and (queue or named == OUTSIDE):
            record.fixed = found
        return found

    def _stamped_cards(self, record: PodRecord, stamp: Stamp) -> Amounts:
        """The cards of the stamp. If somebody bound the pod to a node with cards of another model:
        the cards of that node, since the pod holds those (E3).

        The node is compared once, when the pod is bound (D8), and as soon as the node shows a card
        of a resource that the pod asks for. The result is written into the stamp for replicas that
        start later: of a pod that runs when it is first seen, nobody can tell what its node was.
        Only models are compared: a node may divide its cards anew before the pod starts.
        """
        facts, cards = record.facts, dict(stamp.cards)
        if facts.state is not State.BOUND:
            return cards
        if not record.compared:
            models = {model_of(name) for name, amount in cards.items() if amount}
            found = self._cards_on_node(facts)
            record.compared = bool(found) or not models
            record.node_cards = tuple(
                (r, card) for r, card in found if models and model_of(card) not in models
            )
        return record.on_node if record.node_cards else cards

    def _cards_on_node(self, facts: PodFacts) -> tuple[tuple[str, str], ...]:
        """For each resource name that a bound pod asks for: the card that its node shows."""
        found = ((r, self._state.nodes.card_of(facts.node, r)) for r, _ in facts.devices)
        return tuple((r, card) for r, card in found if card is not None)

    def _unstamped_charge(self, record: PodRecord, *, bound: bool) -> Charge:
        """The charge of a pod without a stamp of ours. One that may use several cards counts with
        the first of them that has a quota, until its node says which (D8).

        Notes on the record what the pod asks for, and the cards of its node, which stay (D8).
        """
        state = self._state
        facts = record.facts.as_its_node_has_it() if record.audited else record.facts
        record.elsewhere = False
        if bound and not record.node_cards:
            record.node_cards = self._cards_on_node(facts)
        if record.node_cards:
            record.request = None
            # Card memory is kept for the pod too, and counts once a quota has a row for any (B10).
            by_memory = state.quotas.limits_memory
            held = {c: n for c, n in record.on_node.items() if by_memory or not is_memory(c)}
            return state.with_cpu_memory(facts, record.queue, held)
        cards: MutableAmounts = {}
        account = state.account(record.queue)
        quota = account.quota if account else {}
        reading = state.reading_of(facts, account)
        record.request = reading.request
        if record.gated and reading.elsewhere is not None:
            record.elsewhere = True
            card = _first_in(quota, reading.elsewhere)
            cards = {card: record.request.amount} if card else cards
            return state.with_cpu_memory(facts, record.queue, cards)
        for request in self._one_by_one(facts, record.queue, record.request):
            card = _first_in(quota, request.cards)
            if card:
                cards[card] = cards.get(card, 0) + request.amount
        return state.with_cpu_memory(facts, record.queue, cards)

    def _one_by_one(self, facts: PodFacts, queue: str, whole: PodRequest) -> list[PodRequest]:
        """A pod with two card resources is refused. One that came past us is counted by each."""
        devices = card_devices(facts, self._state) if len(facts.devices) > 1 else []
        if len(devices) < 2:
            return [whole]
        return [self._state.request_of(replace(facts, devices=(one,)), queue) for one in devices]

    def _charge_state(self, record: PodRecord, *, bound: bool) -> ChargeState:
        if bound:
            return ChargeState.ALLOCATED
        if not record.gated:
            return ChargeState.RELEASED
        policy = self._state.policy_of(record.facts, record.queue)
        waits = policy is Policy.GATE or record.elsewhere
        return ChargeState.GATED_GATE if waits else ChargeState.GATED_DENY

    def _place(self, facts: PodFacts) -> tuple[str, str]:
        """Of a gang, and of batch, the group's: controllers make the pods of several jobs in any
        order. A group of a service has no age of interest: pods of it come and go (E6).
        """
        group = self._state.groups.get(facts.group) if facts.group else None
        if group is None or group.facts is None:
            return facts.created, facts.name
        if not group.gang and not self._state.is_batch(facts):
            return facts.created, facts.name
        return group.facts.created, group.facts.name


def _first_in(quota: Amounts, cards: Sequence[str]) -> str:
    """The first alternative with a quota, or else the first; empty where there is none."""
    for card in cards:
        if quota.get(card):
            return card
    return cards[0] if cards else ""


# --- its class: one decision on a class holds for all its pods -----------------------------------


class ClassKey(NamedTuple):
    """Pods with the same key are alike in all that `judgement` reads."""

    request: PodRequest | None
    mode: Mode
    kept_out: str | None
    """The namespace, of a pod whose queue is not open to it."""
    group: str | None
    """The group's key, where the group decides: a gang, one that is missing, one that reserves, or
    one that leads to another queue than the pod names."""
    task: str
    """The pod's task, in a gang that needs some of it to start."""
    alone: bool
    """Whether it goes alone, though it may be in such a group."""
    own_queue: str | None
    """The queue that the pod itself names, where it is in another."""
    problem: str | None
    """What is wrong with the pod by itself."""
    gets_group: bool
    """Whether it waits for Volcano to give it a group."""
    room: str | None
    """Its uid, if room is made for this very pod (L5)."""
    unread: tuple[object, ...] | None
    """Where no card follows from it: what it says of cards, nodes and devices."""


def without_task(key: Hashable) -> Hashable:
    """The key that the pods of a class would have if they were of no task."""
    return key._replace(task="") if isinstance(key, ClassKey) and key.task else key


def task_of(group: PodGroupState | None, record: PodRecord) -> str:
    """The pod's task, where its gang needs some of it to start; else empty. So however many tasks
    pods name, few of them make classes of their own.
    """
    task = record.facts.task
    return task if task and group is not None and task in group.tasks else ""


def class_key_of(state: LedgerReader, record: PodRecord) -> tuple[ClassKey, Gang | None]:
    """The key of a pod's class; and its gang, or its group with a reservation, if it has one."""
    facts, request = record.facts, record.request
    group = state.groups.get(facts.group) if facts.group else None
    agrees = facts.own_queue in ("", record.queue)
    # What a reservation covers changes with every other member, of a gang or not any more. While
    # one is being written none of them goes.
    reserves = group is not None and (group.reservation is not None or group.being_reserved)
    together = group is not None and (group.gang or reserves)
    mode = state.mode_in(facts.namespace)
    # Where nothing is enforced nobody waits for anybody.
    gang = group if together and mode is Mode.ENFORCE else None
    group_key = gang.key if gang is not None else None
    if group is not None and (group.facts is None or reserves or not agrees):
        group_key = group.key
    unread = None
    if request is None or not request.cards:
        unread = (facts.card_text, facts.selector, facts.devices)
    account = state.account(record.queue)
    kept_out = account and account.facts and not account.facts.admits(facts.namespace)
    key = ClassKey(
        request,
        mode,
        facts.namespace if kept_out else None,
        group_key,
        task_of(group, record) if gang is not None else "",
        gang is None,
        None if agrees else facts.own_queue,
        facts.problem,
        state.gets_group(facts),
        facts.uid if facts.uid in state.kept_rooms else None,
        unread,
    )
    return key, gang

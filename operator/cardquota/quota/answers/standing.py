"""How a pod, a group or a workload stands, and for want of what."""

from collections.abc import Mapping
from enum import StrEnum
from typing import Final, NamedTuple

from .. import vocabulary as v
from ..accounts.account import OUTSIDE
from ..amounts import is_card
from ..ledger.ledger_reader import LedgerReader
from ..messages import standing_messages
from ..pods.charge_state import ChargeState
from ..pods.pod_record import PodRecord
from ..vocabulary import Reason
from .gate_reasons import Why


class WorkloadState(StrEnum):
    """How it stands."""

    FITS = "Fits"
    """All its pods are on nodes, or it wants none."""
    ENDS = "Ends"
    """It is being deleted, or over."""
    LET_THROUGH = "LetThrough"
    """A gate is open, and the pod has no node yet."""
    WAITS = "Waits"
    """A pod, or the group, waits at our gate."""
    REFUSED = "Refused"
    """It lacks pods, and the next one would be refused."""
    COMING = "Coming"
    """It lacks pods, and the next one would be let through, or would wait at the gate."""


class WaitsFor(StrEnum):
    """For want of what."""

    NOTHING = ""
    QUOTA = "Quota"
    ORDER = "Order"
    """There is room, and others come first."""
    GROUP = "PodGroup"
    QUEUE = "Queue"
    """It is missing, closed, or not open to the namespace."""
    NODE = "Node"
    GATE = "SchedulingGate"
    """Somebody else's."""
    SCHEDULER = "Scheduler"
    WEBHOOK = "Webhook"
    """Somebody else refuses what we write."""
    OPERATOR = "Operator"
    """There is room: the leader is about to let it through, or others come first."""
    CONTROLLER = "Controller"
    """Its next pod would be admitted, and has not been tried."""
    CORRECTION = "Correction"
    """What is written on it can never be right."""


_BY_REASON: Final[Mapping[str, WaitsFor]] = {
    Reason.INSUFFICIENT_CARD: WaitsFor.QUOTA,
    Reason.INSUFFICIENT_CPU: WaitsFor.QUOTA,
    Reason.INSUFFICIENT_MEMORY: WaitsFor.QUOTA,
    Reason.CARD_NOT_IN_QUOTA: WaitsFor.QUOTA,
    Reason.QUEUE_NOT_FOUND: WaitsFor.QUEUE,
    Reason.QUEUE_NOT_OPEN: WaitsFor.QUEUE,
    Reason.GROUP_NOT_FOUND: WaitsFor.GROUP,
    Reason.GANG_INCOMPLETE: WaitsFor.GROUP,
    Reason.BEHIND: WaitsFor.ORDER,
    Reason.NODE_WITHOUT_CARD: WaitsFor.NODE,
    Reason.CARD_UNCLEAR: WaitsFor.NODE,
    Reason.TOO_MUCH_KEPT: WaitsFor.OPERATOR,
    v.GATE_REFUSED: WaitsFor.WEBHOOK,
    "": WaitsFor.OPERATOR,
}


class Standing(NamedTuple):
    """In one word, and in words."""

    state: WorkloadState
    waits_for: WaitsFor = WaitsFor.NOTHING
    reason: str = ""
    """As in events."""
    message: str = ""


def at_gate(why: Why, state: WorkloadState = WorkloadState.WAITS) -> Standing:
    """Of what waits at our gate, or is refused, for this reason."""
    waits_for = _BY_REASON.get(why.reason, WaitsFor.CORRECTION)
    return Standing(state, waits_for, why.reason, why.text)


def past_gate(ledger: LedgerReader, record: PodRecord) -> Standing:
    """Of a pod that is let through or bound."""
    facts, why = record.facts, why_held(ledger, record)
    if record.charge_state is ChargeState.ALLOCATED:
        text = standing_messages.runs_on(facts.node, record.charge, why)
        return Standing(WorkloadState.FITS, message=text)
    if facts.foreign_gates:
        text = standing_messages.other_gates_shut(facts.foreign_gates, why)
        return Standing(WorkloadState.LET_THROUGH, WaitsFor.GATE, message=text)
    cards = [(card, n) for card, n in record.charge if is_card(card) and n]
    may_use_others = record.request is not None and len(record.request.cards) > 1
    if len(cards) == 1 and not may_use_others:
        ((card, amount),) = cards
        text = _lacks_node(ledger, card, amount, why)
        if text:
            return Standing(WorkloadState.LET_THROUGH, WaitsFor.NODE, message=text)
    text = standing_messages.let_through(record.charge, why)
    return Standing(WorkloadState.LET_THROUGH, WaitsFor.SCHEDULER, message=text)


def _lacks_node(ledger: LedgerReader, card: str, amount: int, why: str) -> str:
    """Why no node has a pod's cards free; empty if one has."""
    nodes = ledger.nodes
    if nodes.most(card) < amount:
        return standing_messages.no_node_large(card, amount, nodes.most(card), why)
    free = nodes.free.most_on_node_now(card)
    if free >= amount:
        return ""
    offered = nodes.free.most_offered(card)
    if offered < amount:
        return standing_messages.no_node_ready(card, amount, offered, why)
    return standing_messages.no_node_free(card, amount, free, why)


def why_held(ledger: LedgerReader, record: PodRecord) -> str:
    """Why a pod that is let through or bound holds what it holds: not only because it fits."""
    account = ledger.account(record.queue)
    mode = ledger.mode_in(record.facts.namespace)
    unbound = record.charge_state is not ChargeState.ALLOCATED
    if record.stamp is None and record.audited and unbound and mode is not v.Mode.OFF:
        return standing_messages.NOT_COUNTED_YET
    if record.queue == OUTSIDE or account is None:
        return standing_messages.IN_NO_QUEUE
    held = {dimension for dimension, amount in record.charge if amount}
    if any(one.dimension in held for one in account.over()):
        return standing_messages.beyond_quota(record.queue)
    if record.stamp is not None:
        return standing_messages.FITS_QUOTA
    if record.audited:
        return standing_messages.CAME_UNENFORCED
    return standing_messages.CAME_PAST_GATE

"""What watches tell a ledger, event by event, and all that is told of the ledger then."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from builders import H200, H800, Body, a_ledger, see
from builders.group import GroupBody
from builders.namespace import NamespaceBody
from builders.node import NodeBody
from builders.pod import PodBody
from builders.queue import QueueBody
from builders.queue_order import queue_order
from cardquota.quota import Stamp, to_its_end
from cardquota.quota.ledger import Ledger
from cardquota.quota.pods import ChargeState, PodMaker, PodRecord
from cardquota.quota.release import Refusal
from cardquota.quota.release.cycle import openings
from cardquota.quota.reports import Totals, totals_of
from cardquota.quota.reports.drift import drift

XPU, XPU_RESOURCE = "XPU-1", "example.com/xpu"
A10_MEMORY = "NVIDIA-A10/gpu-mem"
CARDS = (H200, H800, XPU, A10_MEMORY)


@dataclass(frozen=True)
class Class:
    """A priority class."""

    name: str
    value: int


@dataclass(frozen=True)
class ToldEvent:
    """What a watch tells of one object: as it is now, or that it is gone."""

    of: Body | Class
    gone: bool = False

    def tell(self, ledger: Ledger) -> None:
        if not self.gone:
            if isinstance(self.of, Class):
                ledger.priority_class_seen(self.of.name, self.of.value)
            else:
                see(ledger, self.of)
            return
        match self.of:
            case PodBody():
                ledger.pod_gone(self.of.uid)
            case NodeBody():
                ledger.node_gone(self.of.name)
            case QueueBody():
                ledger.queue_gone(self.of.name)
            case GroupBody():
                ledger.group_gone(self.of.key)
            case NamespaceBody():
                ledger.namespace_gone(self.of.name)
            case Class():
                ledger.priority_class_gone(self.of.name)

    def __repr__(self) -> str:
        what = self.of if isinstance(self.of, Class) else (type(self.of).__name__, self.of.body)
        return f"{'gone ' if self.gone else ''}{what}"


History = tuple[ToldEvent, ...]
"""The events of all that ever had one name, in their order."""


def told(events: Iterable[ToldEvent], **options: Any) -> Ledger:
    ledger = a_ledger(**options)
    for event in events:
        event.tell(ledger)
    return ledger


def merged(histories: Sequence[History], order: Sequence[int]) -> list[ToldEvent]:
    """All events, each history in its own order; `order` says whose next one comes."""
    rest = [iter(history) for history in histories]
    return [next(rest[number]) for number in order]


def one_after_the_other(histories: Sequence[History]) -> list[ToldEvent]:
    return [event for history in histories for event in history]


def totals(ledger: Ledger) -> dict[tuple[str, str], Totals]:
    assert drift(ledger) == {}
    return ledger_totals(ledger)


def ledger_totals(ledger: Ledger) -> dict[tuple[str, str], Totals]:
    """By queue and dimension."""
    return {
        (one.name, name): found
        for one in ledger.accounts()
        for name, found in totals_of(one).items()
    }


def state_of(ledger: Ledger) -> dict[str, Any]:
    """Everything that anybody is told of a ledger, comparable."""
    assert drift(ledger) == {}
    return {
        "rows": {
            (account.name, dimension): (
                row.by_charge_state[ChargeState.ALLOCATED],
                row.by_charge_state[ChargeState.RELEASED],
                row.by_charge_state[ChargeState.GATED_DENY],
                row.by_charge_state[ChargeState.GATED_GATE],
                row.reserved,
                row.elastic,
                row.offline,
                row.leaving,
            )
            for account in ledger.accounts()
            for dimension, row in account.rows.items()
        },
        "pods": {
            uid: (
                record.queue,
                record.charge_state,
                record.charge,
                record.request,
                record.sort_key if record.releasable else None,
            )
            for uid, record in ledger.pods.items()
        },
        "groups": {
            key: (
                group.facts,
                group.reservation,
                group.missing,
                group.members_existing,
                group.bound,
                sorted(group.members),
                sorted(group.succeeded),
                {
                    d: (group.holds.get(("red", d), 0), group.outstanding(d))
                    for d in (*CARDS, "cpu")
                },
            )
            for key, group in ledger.groups.items()
        },
        "queues": {
            a.name: (dict(a.quota), a.facts, sorted(a.unstamped)) for a in ledger.accounts()
        },
        "waiting": {a.name: sorted(a.pending.uids()) for a in ledger.accounts()},
        "quotas": {card: ledger.quotas.of(card) for card in CARDS if ledger.in_any_quota(card)},
        "live": live(ledger),
        "made": made(ledger),
        "borrowing": {a.name: (a.borrowed(), len(a.pending.borrowers)) for a in ledger.accounts()},
        "nodes": ledger.nodes.totals(),
        "namespaces": ledger.namespaces,
    }


def made(ledger: Ledger) -> dict[tuple[str, str], dict[tuple[str, str], int]]:
    """How many pods each controller has, by queue and namespace; counted anew, and held against
    what the ledger says.
    """
    found: dict[tuple[str, str], dict[tuple[str, str], int]] = {}
    for one in ledger.pods.values():
        facts = one.facts
        if not facts.controller:
            continue
        numbers = found.setdefault((one.queue, facts.namespace), {})
        key = facts.controller, facts.controller_name
        numbers[key] = numbers.get(key, 0) + (not facts.terminating)
    for (queue, namespace), numbers in found.items():
        assert queue in ledger.made_pods.queues_in(namespace)
        for (kind, name), number in numbers.items():
            assert ledger.made_pods.living_by_controller(queue, namespace)[kind, name] == number
    of_queue: dict[str, set[str]] = {}
    unstamped: dict[str, list[str]] = {one.facts.namespace: [] for one in ledger.pods.values()}
    for uid, one in ledger.pods.items():
        of_queue.setdefault(one.queue, set()).add(uid)
        if one.stamp is None:
            unstamped[one.facts.namespace].append(uid)
    for namespace, uids in unstamped.items():
        assert sorted(ledger.made_pods.unstamped_in(namespace)) == sorted(uids)
    for account in ledger.accounts():
        pods: list[PodRecord] = []
        to_its_end(ledger.made_pods.each_of(account.name, pods.append))
        uids = [record.facts.uid for record in pods]
        assert sorted(uids) == sorted(of_queue.get(account.name, ()))
    return found


def live(ledger: Ledger) -> dict[tuple[str, PodMaker], tuple[int, int, dict[str, int]]]:
    """What is held of each queue by the pods of one ReplicaSet, or of a DaemonSet on one node, that
    are not being deleted; counted anew as well.
    """
    found: dict[tuple[str, PodMaker], list[PodRecord]] = {}
    for one in ledger.pods.values():
        facts = one.facts
        if facts.controller == "ReplicaSet":
            maker = PodMaker(facts.namespace, "ReplicaSet", facts.controller_name)
        elif facts.controller == "DaemonSet" and (facts.node or facts.name):
            maker = PodMaker(
                facts.namespace, "DaemonSet", facts.controller_name, facts.node or "h200-1"
            )
        else:
            continue
        pods = found.setdefault((one.queue, maker), [])
        if not facts.terminating:
            pods.append(one)
    counted = {}
    for (queue, maker), pods in found.items():
        held = [one for one in pods if not one.gated]
        cards = {card: sum(dict(one.charge).get(card, 0) for one in held) for card in CARDS}
        counted[queue, maker] = (len(pods), len(held), cards)
        made = ledger.made_pods.of(queue, maker)
        kept = made.living, made.held, {card: made.cards.get(card, 0) for card in CARDS}
        assert kept == counted[queue, maker]
    return counted


def releases(ledger: Ledger) -> tuple[list[Any], dict[str, Any]]:
    """What opens, in order and with which cards, and what the others are told. Charges it."""
    opened: list[Any] = []
    refused: dict[str, Any] = {}
    for queue in queue_order(ledger, [account.name for account in ledger.accounts()]):
        for found in openings(ledger, queue):
            if isinstance(found, Refusal):
                words = found.verdict.reason, found.verdict.text
                refused |= {record.facts.uid: words for record in found.pods}
                continue
            if found.gang is not None and not found.pods:
                ledger.decisions.enqueue(found.gang.key, queue, "t", found.asked)
            elif found.gang is not None:
                ledger.decisions.reserve(found.gang.key, queue, "t", found.asked)
            for record, cards in found.pods:
                ledger.decisions.assume(record.facts.uid, Stamp(queue, cards, "t"))
            pods = [(record.facts.uid, cards) for record, cards in found.pods]
            opened.append((queue, pods, found.asked))
    assert drift(ledger) == {}
    return opened, refused

"""How far a plan has come that is carried out, as the ledger shows it (L5)."""

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from ..amounts import is_card
from ..ledger.groups.pod_group_state import PodGroupState
from ..ledger.ledger_reader import LedgerReader
from ..pods.pod_facts import State
from ..pods.pod_record import PodRecord
from ..vocabulary import Mode
from .beneficiaries import lacking_members
from .plan import ReclaimWay
from .victims import protection_of

Leaving = Mapping[tuple[str, str], int]
"""By queue and card: what pods on nodes hold that are about to go."""


class WaitingOne(NamedTuple):
    """For whom pods end."""

    namespace: str
    name: str
    group: bool
    """Whether it is a pod group."""
    queue: str
    priority: int
    """The lowest of its pods."""
    asked: int
    """Cards of the plan's kind that its pods without a node ask for."""


def waiting_one(ledger: LedgerReader, key: str, card: str) -> WaitingOne | None:
    """The pod, by uid, or gang, by `namespace/name`, as it waits now. None: it does no longer: it
    has started, is gone, or about to go.
    """
    record, group = ledger.pods.get(key), ledger.groups.get(key)
    if record is not None:
        facts = record.facts
        if facts.terminating or facts.state is State.BOUND:
            return None
        asked = _asked([record], card)
        return WaitingOne(facts.namespace, facts.name, False, record.queue, facts.priority, asked)
    if group is None or group.facts is None:
        return None
    waiting = [one for one in group.members.values() if one.facts.state is not State.BOUND]
    if has_started(group) or not waiting:
        return None
    facts_of_group = group.facts
    return WaitingOne(
        facts_of_group.namespace,
        facts_of_group.name,
        True,
        waiting[0].queue,
        group.priority or 0,
        _asked(lacking_members(group) or waiting, card),
    )


def has_started(group: PodGroupState) -> bool:
    """Whether a gang has its minimum on nodes: the others wait for nodes one by one (L3)."""
    return group.bound + len(group.succeeded) >= max(1, group.minimum)


def _asked(records: Iterable[PodRecord], card: str) -> int:
    found = 0
    for one in records:
        if one.request is None:
            found += dict(one.charge).get(card, 0)
        elif card in one.request.cards:
            found += one.request.amount
    return found


def may_still_end(
    ledger: LedgerReader,
    record: PodRecord,
    way: ReclaimWay,
    leaving: Leaving,
    *,
    past_admission: bool,
) -> bool:
    """Whether a pod of a plan may end now (L4), which may have been made a while ago: nothing that
    forbids it was written since, and a queue that gives back still holds, without it and without
    what is `leaving` besides, what it deserves.
    """
    queue, account = record.queue, ledger.account(record.queue)
    enforced = ledger.mode_in(record.facts.namespace) is Mode.ENFORCE
    protected = protection_of(ledger, record, past=past_admission, enforced=enforced)
    if protected is not None or not record.held or account is None:
        return False
    if account.facts is None or way is ReclaimWay.PREEMPT:
        return True
    return account.facts.reclaimable and all(
        account.row(card).allocated - leaving.get((queue, card), 0) - amount
        >= ledger.shares.shown(queue, card)
        for card, amount in record.charge
        if amount and is_card(card)
    )

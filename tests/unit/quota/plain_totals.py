"""Looks into a ledger: its totals in plain form, who goes next, and what is left in it."""

from typing import Any

from builders.plain_cluster import Sums
from cardquota.quota import Mode
from cardquota.quota.accounts import Account
from cardquota.quota.ledger import Ledger
from cardquota.quota.ledger.groups import PodGroupState
from cardquota.quota.pending import PendingQueue
from cardquota.quota.pods import ChargeState
from cardquota.quota.release import Opening
from cardquota.quota.release.cycle import openings


def sums_of(ledger: Ledger) -> dict[tuple[str, str], Sums]:
    """The ledger's totals in the plain cluster's form."""
    return {
        (account.name, dimension): Sums(
            row.requested,
            row.inqueue,
            row.allocated,
            row.elastic,
            row.by_charge_state[ChargeState.GATED_DENY],
            row.leaving,
        )
        for account in ledger.accounts()
        for dimension, row in account.rows.items()
    }


def next_opening(ledger: Ledger, queue: str) -> tuple[list[str], list[Any]] | None:
    """Who goes next, and with which cards; nothing is charged. Of several that go together, with
    how many: equal ones get one card, and whoever asks may have taken them for unequal.
    """
    found = next((x for x in openings(ledger, queue) if isinstance(x, Opening)), None)
    if found is None:
        return None
    if found.gang is not None and not found.pods:
        return [found.gang.key], [found.asked]
    if len(found.pods) > 1:
        return [r.facts.uid for r, _ in found.pods], [
            [n for _, n in cards] for _, cards in found.pods
        ]
    return [r.facts.uid for r, _ in found.pods], [cards for _, cards in found.pods]


def with_nothing_noted(ledger: Ledger, account: Account) -> tuple[list[str], list[Any]] | None:
    """The same of a pending queue that all have just joined, each in a class of its own.

    Here no pod is judged by another's answer. So one that waits only because it shares a class with
    a pod that is not alike, and does not fit, is found.
    """
    noted, account.pending = account.pending, PendingQueue(account.name)
    keys = {record: record.class_key for record in ledger.pods.values()}
    waiting_in = {group: dict(group.queues) for group in ledger.groups.values()}
    for uid in noted.uids():
        record = ledger.pods[uid]
        if record.refused:
            account.pending.back_off(record)
        else:
            account.pending.join(record, uid, _gang_of(ledger, uid), record.facts.task)
    for group in ledger.groups.values():
        if group in noted.groups and group.asks is not None:
            account.pending.ask(group, group.asks.sort_key, group.asks.request.dimensions)
    found = next_opening(ledger, account.name)
    for record, key in keys.items():
        record.class_key = key
    for group, queues in waiting_in.items():
        group.queues = queues
    account.pending = noted
    return found


def _gang_of(ledger: Ledger, uid: str) -> PodGroupState | None:
    """Section 2: the members of a group with minMember > 1 start together, where it is enforced.
    Nothing is closed to a group for which something is reserved, either.
    """
    if ledger.mode_in(ledger.pods[uid].facts.namespace) is not Mode.ENFORCE:
        return None
    group = ledger.groups.get(ledger.pods[uid].facts.group)
    of_many = group is not None and group.facts is not None and group.facts.min_member > 1
    reserves = group is not None and (group.reservation is not None or group.being_reserved)
    return group if of_many or reserves else None


def left_over(ledger: Ledger) -> dict[str, Any]:
    """Every collection of the ledger and of its node cache that still holds something.

    The catalog is left out: knowledge of cards outlives everything (D8).
    """
    found = {}
    for owner in (ledger, ledger.nodes, ledger.nodes.free, ledger.made_pods, ledger.held_cards):
        for name, value in vars(owner).items():
            if isinstance(value, dict | set | list) and value:
                found[f"{type(owner).__name__}.{name}"] = value
    return found

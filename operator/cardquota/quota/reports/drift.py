"""Does the ledger still equal a plain count of what it holds? (I2)

The count is separate from the ledger on purpose, without its incremental steps: a sum over all pods
and groups. It takes each pod's queue, state and amounts as given, so it finds an amount that was
counted twice, left behind or put into the wrong total.
"""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

from ..accounts.account import AccountReader
from ..amounts import Charge
from ..ledger.groups.group_holdings import bound_key
from ..ledger.groups.pod_group_state import PodGroupState
from ..ledger.ledger_reader import LedgerReader
from ..pods.pod_record import ChargeState, PodRecord
from ..stamp import Reservation
from ..steps import Steps, to_its_end
from ..vocabulary import Policy

STEP: Final = 200
"""Pods that one step counts."""


@dataclass(slots=True)
class Totals:
    """One queue's totals of one dimension (section 6)."""

    requested: int = 0
    inqueue: int = 0
    allocated: int = 0
    elastic: int = 0
    offline: int = 0
    """The part of `allocated` that pods hold whose own policy is Gate."""
    leaving: int = 0
    """The part of `inqueue` and `allocated` that is free once the pods that are being deleted are
    gone (T4)."""


Recount = dict[tuple[str, str], Totals]
"""By queue and dimension."""
Drift = dict[tuple[str, str], tuple[Totals, Totals]]
"""By queue and dimension that differ: ledger, recount. Empty is right."""
_Found = defaultdict[tuple[str, str], Totals]


class Compared(NamedTuple):
    """What a recount in steps found."""

    drift: Drift
    moved: frozenset[str]
    """Queues that changed meanwhile and so could not be compared."""


def drift(ledger: LedgerReader) -> Drift:
    """Where ledger and recount differ. Costs in proportion to all pods, without a pause."""
    return to_its_end(compare(ledger)).drift


def compare(ledger: LedgerReader) -> Steps[Compared]:
    """`drift` in short steps. Between two steps the ledger may change.

    Compares each queue whose totals have not changed since the first step, at one moment. That is
    exact: any change of what a recount finds of a queue also changes its totals.
    """
    begun = {account.name: (account, account.changes) for account in ledger.accounts()}
    counted = yield from _recount(ledger)
    by_queue: dict[str, dict[str, Totals]] = {}
    for (queue, dimension), totals in counted.items():
        by_queue.setdefault(queue, {})[dimension] = totals
    found: Drift = {}
    moved = set[str]()
    there = {account.name for account in ledger.accounts()}
    for queue in sorted(begun.keys() | by_queue.keys() | there):
        account, changes = begun.get(queue, (None, 0))
        changed = account is not None and account.changes != changes
        if ledger.overdue or ledger.account(queue) is not account or changed:
            moved.add(queue)
        else:
            kept, none = totals_of(account) if account is not None else {}, Totals()
            for name in kept.keys() | by_queue.get(queue, {}).keys():
                both = kept.get(name, none), by_queue.get(queue, {}).get(name, none)
                if both[0] != both[1]:
                    found[queue, name] = both
        yield
    return Compared(found, frozenset(moved))


def totals_of(account: AccountReader) -> dict[str, Totals]:
    """The ledger's own totals of a queue, by dimension."""
    return {
        dimension: Totals(
            row.requested, row.inqueue, row.allocated, row.elastic, row.offline, row.leaving
        )
        for dimension, row in account.rows.items()
    }


# --- the count ------------------------------------------------------------------------------------


def _recount(ledger: LedgerReader) -> Steps[Recount]:
    """Count everything; only what is not zero appears. Each step counts pods and groups as they are
    at that time.
    """
    found, members = _Found(Totals), defaultdict[str, list[PodRecord]](list)
    for number, pod in enumerate(list(ledger.pods.values())):
        if number % STEP == 0:
            yield
        if pod.facts.group:
            members[pod.facts.group].append(pod)
        allocated = pod.charge_state is ChargeState.ALLOCATED
        offline = allocated and ledger.policy_by_controller(pod.facts) is Policy.GATE
        for dimension, amount in pod.charge:
            totals = found[pod.queue, dimension]
            totals.requested += amount
            totals.allocated += amount if allocated else 0
            totals.offline += amount if offline else 0
            totals.inqueue += amount if pod.charge_state is ChargeState.RELEASED else 0
            totals.leaving += amount if pod.leaves and not pod.facts.group else 0
    for group in list(ledger.groups.values()):
        _count_group(found, group, members.get(group.key, []))
        yield
    return {key: totals for key, totals in found.items() if totals != Totals()}


def _count_group(found: _Found, group: PodGroupState, members: Sequence[PodRecord]) -> None:
    reservation = group.reservation
    if reservation is not None:
        _count_reservation(found, reservation, group.judged, members, None)
    if group.replaced is not None:
        _count_reservation(found, group.replaced, None, members, reservation)
    if reservation is None:
        for pod in members:
            for dimension, amount in pod.charge if pod.leaves else ():
                found[pod.queue, dimension].leaving += amount
    if group.facts is None:
        return  # nothing of it is elastic
    bound = [pod for pod in members if pod.charge_state is ChargeState.ALLOCATED]
    bound.sort(key=lambda pod: bound_key(pod.facts))
    for pod in bound[group.facts.min_member :]:
        for dimension, amount in pod.charge:
            found[pod.queue, dimension].elastic += amount


def _count_reservation(
    found: _Found,
    reservation: Reservation,
    judged: Charge | None,
    members: Sequence[PodRecord],
    beside: Reservation | None,
) -> None:
    """`judged`: what the group may hold there, as far as that is known here. `beside`: what is
    reserved by another one counts like what members hold.
    """
    held: defaultdict[str, int] = defaultdict(int)
    for pod in members:
        if pod.charge_state in (ChargeState.ALLOCATED, ChargeState.RELEASED):
            for name, amount in pod.charge:
                held[name] += amount if pod.queue == reservation.queue else 0
    if beside is not None and beside.queue == reservation.queue:
        for name, amount in beside.amounts:
            held[name] = max(held[name], amount)
    for dimension, written in reservation.amounts:
        # Whatever is written: only what was judged in that queue is reserved (I1).
        most = written if judged is None else min(written, dict(judged).get(dimension, 0))
        found[reservation.queue, dimension].inqueue += max(0, most - held[dimension])

"""The totals, counted plainly: what the ledger's event-driven totals must equal (I2).

Separate from the ledger on purpose, without its incremental steps: a sum over all pods and groups.
It takes each pod's queue, state and amounts as given, so it finds an amount that was counted twice,
left behind or put into the wrong total.
"""

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from ..amounts import Charge
from ..ledger.groups.group_holdings import BoundKey
from ..pods.pod_record import ChargeState
from ..stamp import Reservation
from ..steps import Steps

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


@dataclass(slots=True, frozen=True)
class CountedPod:
    """One unfinished pod as a recount sees it."""

    uid: str
    queue: str
    charge_state: ChargeState
    charge: Charge
    group: str
    bound_key: BoundKey
    waits: bool = False
    """Whether its own policy is Gate."""
    leaves: bool = False
    """Whether it is being deleted, holds something, and that is certain to be free then."""


@dataclass(slots=True, frozen=True)
class CountedGroup:
    """One pod group as a recount sees it. `minimum` None: not seen, so nothing of it is elastic.

    `judged`: what it may hold in the queue of its reservation, as far as that is known here.
    """

    key: str
    minimum: int | None = None
    reservation: Reservation | None = None
    judged: Charge | None = None
    replaced: Reservation | None = None
    """The one that is written until the reservation is: what of it is beyond that is kept."""


Recount = dict[tuple[str, str], Totals]
"""By queue and dimension."""


def recount(pods: Iterable[CountedPod], groups: Iterable[CountedGroup]) -> Steps[Recount]:
    """Count everything; only what is not zero appears.

    In short steps. Each step counts pods and groups as they are at that time.
    """
    found: defaultdict[tuple[str, str], Totals] = defaultdict(Totals)
    members: defaultdict[str, list[CountedPod]] = defaultdict(list)
    for number, pod in enumerate(pods):
        if number % STEP == 0:
            yield
        if pod.group:
            members[pod.group].append(pod)
        for dimension, amount in pod.charge:
            totals = found[pod.queue, dimension]
            totals.requested += amount
            totals.allocated += amount if pod.charge_state is ChargeState.ALLOCATED else 0
            totals.offline += (
                amount if pod.waits and pod.charge_state is ChargeState.ALLOCATED else 0
            )
            totals.inqueue += amount if pod.charge_state is ChargeState.RELEASED else 0
            totals.leaving += amount if pod.leaves and not pod.group else 0
    for group in groups:
        _count_group(found, group, members.pop(group.key, []))
        yield
    return {key: totals for key, totals in found.items() if totals != Totals()}


def _count_group(
    found: defaultdict[tuple[str, str], Totals], group: CountedGroup, members: list[CountedPod]
) -> None:
    if group.reservation is not None:
        _count_reservation(found, group.reservation, group.judged, members, None)
    if group.replaced is not None:
        _count_reservation(found, group.replaced, None, members, group.reservation)
    if group.reservation is None:
        for pod in members:
            for dimension, amount in pod.charge if pod.leaves else ():
                found[pod.queue, dimension].leaving += amount
    if group.minimum is None:
        return
    bound = sorted(
        (pod for pod in members if pod.charge_state is ChargeState.ALLOCATED),
        key=lambda p: p.bound_key,
    )
    for pod in bound[group.minimum :]:
        for dimension, amount in pod.charge:
            found[pod.queue, dimension].elastic += amount


def _count_reservation(
    found: defaultdict[tuple[str, str], Totals],
    reservation: Reservation,
    judged: Charge | None,
    members: list[CountedPod],
    beside: Reservation | None,
) -> None:
    """`beside`: what is reserved by another one counts like what members hold."""
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

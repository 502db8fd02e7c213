"""The ledger's numbers as metrics, updated at each scrape."""

import time
from collections import defaultdict
from collections.abc import Callable
from typing import Final

from ...loop.timing import TimeSlice, in_slices
from ...metrics import Metrics
from ...quota.accounts.account import OUTSIDE, AccountReader
from ...quota.amounts import is_card
from ...quota.ledger.ledger_reader import LedgerReader
from ...quota.reports.cluster_report import cluster_report
from ...quota.reports.drift import Drift, compare
from ...quota.reports.memory_report import unlimited_use
from ...quota.reports.queue_report import card_rows, cards_of, resource_rows
from ...quota.vocabulary import CPU
from ...quota.words import seconds_of

_ROUNDS: Final = 3
_TOTALS: Final = (
    *("quota", "allocated", "inqueue", "requested", "elastic"),
    *("guarantee", "deserved"),
)
_Rows = defaultdict[str, defaultdict[tuple[str, ...], float]]
"""By gauge and labels. Values with the same labels add up."""

UNKNOWN: Final = "<unknown>"
"""The label of all queues that do not exist, and of all cards that no node has shown and no quota
has. Users choose such names freely, and each would be a series of its own for ever (P8). No object
and no card can have this name."""
UNDECIDED: Final = "<undecided>"
"""The label of pods that were not judged yet. No reason has this name."""


async def refresh(
    ledger: LedgerReader,
    metrics: Metrics,
    *,
    leads: bool = True,
    time_of_day: Callable[[], float] = time.time,
) -> None:
    """Update all numbers of queues and cards. Costs O(rows), a few us each, in slices, however many
    pods wait. The numbers of one queue are of one moment.

    `leads`: whether this replica judges who waits; only then it tells for what. `time_of_day`:
    seconds since 1970.
    """
    slice_ = TimeSlice()
    rows: _Rows = defaultdict(lambda: defaultdict(float))
    metrics.uncounted_nodes.set(len(ledger.nodes.problems.by_node))
    metrics.unknown_modes.set(len(ledger.unknown_modes))
    for kind, kept in ledger.kept.items():
        metrics.kept_bytes.labels(kind).set(kept.total)
        metrics.left_out.labels(kind).set(kept.number_left_out)
    for account in list(ledger.accounts()):
        await slice_.give_way()
        await in_slices(ledger.shares.refresh())
        exists = account.facts is not None
        queue = _queue_label(account)
        _cards(ledger, account, queue, rows)
        if account.name != OUTSIDE:
            if exists:
                _resources(account, rows)
            rows["gated_pods"][queue,] += len(account.pending)
            _waits(account, queue, rows, time_of_day())
            rows["queue_oldest_terminating_seconds"][queue,] += 0
            if leads:
                _waiting(account, queue, rows)
            rows["unadmitted_pods"][queue,] += len(account.unadmitted)
    for unit, (pods, held) in unlimited_use(ledger).items():
        rows["unlimited_memory_pods"][unit,] = pods
        rows["unlimited_memory"][unit,] = held
    await _late_to_end(ledger, rows, time_of_day())
    await _cluster(ledger, rows)
    await _reserved(ledger, rows)
    if leads:
        _keep_reasons(ledger, metrics, rows)
    metrics.totals.show({gauge: list(found.items()) for gauge, found in rows.items()})


def _queue_label(account: AccountReader) -> str:
    exists = account.facts is not None or account.name == OUTSIDE
    return account.name if exists else UNKNOWN


async def _late_to_end(ledger: LedgerReader, rows: _Rows, now: float) -> None:
    """Pods that are being deleted, should be gone, and hold cards of a queue (R7). The grace period
    is counted in: the deletionTimestamp includes it.
    """
    slice_, oldest = TimeSlice(), rows["queue_oldest_terminating_seconds"]
    for uid in list(ledger.being_deleted):
        await slice_.give_way()
        record = ledger.pods.get(uid)
        if record is None or not record.held or record.queue == OUTSIDE:
            continue
        account, gone_by = ledger.account(record.queue), record.facts.gone_by
        if account is None or gone_by is None or not any(is_card(d) for d, _ in record.charge):
            continue
        queue = _queue_label(account)
        oldest[queue,] = max(oldest[queue,], int(now) - gone_by)


async def _reserved(ledger: LedgerReader, rows: _Rows) -> None:
    slice_ = TimeSlice()
    for key, queue in list(ledger.reserved_groups.all()):
        await slice_.give_way()
        group = ledger.groups.get(key)
        for dimension, amount in group.rest_in(queue) if group is not None else ():
            if is_card(dimension):
                label = _label_of(ledger, dimension)
                rows["queue_card_reserved"][queue, key.partition("/")[0], label] += amount


def _waits(account: AccountReader, queue: str, rows: _Rows, now: float) -> None:
    """Since when its pods wait (T7). Of all queues that do not exist, only the oldest is known."""
    waits = account.pending.waits
    oldest = rows["queue_oldest_wait_seconds"]
    oldest[queue,] = max(oldest[queue,], _since(waits.oldest, now))
    if queue != UNKNOWN:
        rows["queue_median_wait_seconds"][queue,] = _since(waits.median, now)


def _since(created: str | None, now: float) -> float:
    """Seconds. 0 where that is no time, or in the future: clocks differ."""
    seconds = seconds_of(created)
    return 0 if seconds is None else max(0, int(now) - seconds)


def _waiting(account: AccountReader, queue: str, rows: _Rows) -> None:
    for reason, pods in account.pending.pending_notices.by_reason.items():
        rows["waiting_pods"][queue, reason or UNDECIDED] += pods


def _keep_reasons(ledger: LedgerReader, metrics: Metrics, rows: _Rows) -> None:
    """A row that was shown goes to 0 before it goes: it stays while its queue exists."""
    waiting = rows["waiting_pods"]
    for (queue, reason), _ in metrics.totals.shown("waiting_pods"):
        account = ledger.account(queue)
        if queue == UNKNOWN or (account is not None and account.facts is not None):
            waiting[queue, reason] += 0


def _label_of(ledger: LedgerReader, card: str) -> str:
    return card if ledger.is_known(card) else UNKNOWN


def _cards(ledger: LedgerReader, account: AccountReader, queue: str, rows: _Rows) -> None:
    for card in card_rows(ledger, account):
        labels = queue, _label_of(ledger, card.name)
        for total in _TOTALS:
            rows[f"queue_card_{total}"][labels] += getattr(card, total)
        if card.surge is not None:
            rows["queue_card_surge"][labels] += card.surge
        if card.borrowed is not None:
            rows["queue_card_borrowed"][labels] += card.borrowed
    _, made_up = cards_of(ledger, account)
    for name in made_up:
        if not account.row(name).charged:  # is in no row: only waiting pods ask for it
            rows["queue_card_requested"][queue, UNKNOWN] += account.row(name).requested


def _resources(account: AccountReader, rows: _Rows) -> None:
    """Cpu and memory. No row for a limit, guarantee or share that the queue does not have."""
    for row in resource_rows(account):
        for total in _TOTALS:
            value = getattr(row, total)
            if value is not None:
                unit = 1000 if row.name == CPU else 1
                rows[f"queue_resource_{total}"][account.name, row.name] = value / unit


async def _cluster(ledger: LedgerReader, rows: _Rows) -> None:
    for name, card in (await in_slices(cluster_report(ledger))).items():
        label = _label_of(ledger, name)
        values = {
            "allocatable": card.allocatable,
            "allocated": card.allocated,
            "quota": card.guarantee,
            "guarantee": card.guarantee,
            "oversold": card.oversold,
        }
        for total, value in values.items():
            rows[f"cluster_card_{total}"][label,] += value
        for use, part in card.parts.items():
            rows["cluster_card_allocated_by_policy"][label, use] += part.allocated
            rows["cluster_card_guarantee_by_policy"][label, use] += part.guarantee
        for use, oversold in card.oversold_by_use().items():
            rows["cluster_card_oversold_by_policy"][label, use] += oversold


async def measure_drift(ledger: LedgerReader, metrics: Metrics) -> int:
    """Compare the ledger with a recount. Returns how many totals differ. Costs O(pods), in slices:
    call it now and then.

    Queues that change all the time are compared at most three times. The results of all other
    queues count; the changing ones are compared at the next call.
    """
    differing: Drift = {}
    moving: frozenset[str] | None = None
    for _ in range(_ROUNDS):
        found = await in_slices(compare(ledger))
        differing |= {
            key: both for key, both in found.drift.items() if moving is None or key[0] in moving
        }
        moving = found.moved if moving is None else moving & found.moved
        if not moving:
            break
    metrics.ledger_drift.set(len(differing))
    return len(differing)

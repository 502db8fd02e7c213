"""The ledger's numbers as metrics, brought up to date when somebody scrapes."""

from collections import defaultdict

from ..metrics import Metrics
from ..quota.account import OUTSIDE, Account
from ..quota.cluster_report import cards_of, cluster_report
from ..quota.drift import drift
from ..quota.ledger import Ledger
from ..quota.queue_report import deserved
from ..quota.vocabulary import CPU, MEMORY
from ..total_gauges import Row

_Rows = defaultdict[str, list[Row]]


def refresh(ledger: Ledger, metrics: Metrics) -> None:
    """Show all numbers of queues and cards as they are now. Costs O(rows), a few us each."""
    rows: _Rows = defaultdict(list)
    metrics.uncounted_nodes.set(len({node for node, _ in ledger.nodes.problems()}))
    metrics.unknown_modes.set(len(ledger.unknown_modes))
    for account in ledger.accounts():
        _cards(ledger, account, rows)
        if account.name != OUTSIDE:
            _resources(account, rows)
            rows["gated_pods"].append(((account.name,), len(account.waiting)))
            rows["unadmitted_pods"].append(((account.name,), len(account.past_us)))
    _cluster(ledger, rows)
    metrics.totals.show(rows)


def _cards(ledger: Ledger, account: Account, rows: _Rows) -> None:
    for card in cards_of(account):
        row, quota = account.row(card), account.quota.get(card, 0)
        values = {
            "quota": quota,
            "allocated": row.allocated,
            "inqueue": row.inqueue,
            "requested": row.requested,
            "elastic": row.elastic,
            "guarantee": quota,
            "deserved": deserved(ledger, card, quota),
        }
        for total, value in values.items():
            rows[f"queue_card_{total}"].append(((account.name, card), value))


def _resources(account: Account, rows: _Rows) -> None:
    """Cpu and memory; no row of a limit, guarantee or share where the queue has none."""
    facts = account.facts
    for resource, unit in ((CPU, 1000), (MEMORY, 1)):
        row = account.row(resource)
        values = {
            "quota": account.limit(resource),
            "allocated": row.allocated,
            "inqueue": row.inqueue,
            "requested": row.requested,
            "elastic": row.elastic,
            "guarantee": facts.guarantee.get(resource) if facts else None,
            "deserved": facts.deserved.get(resource) if facts else None,
        }
        for total, value in values.items():
            if value is not None:
                rows[f"queue_resource_{total}"].append(((account.name, resource), value / unit))


def _cluster(ledger: Ledger, rows: _Rows) -> None:
    for name, card in cluster_report(ledger).items():
        values = {
            "allocatable": card.allocatable,
            "allocated": card.allocated,
            "quota": card.guarantee,
            "guarantee": card.guarantee,
            "oversold": card.oversold,
        }
        for total, value in values.items():
            rows[f"cluster_card_{total}"].append(((name,), value))
        for use, part in card.parts.items():
            rows["cluster_card_allocated_by_policy"].append(((name, use), part.allocated))
            rows["cluster_card_guarantee_by_policy"].append(((name, use), part.guarantee))
        for use, oversold in card.oversold_by_use().items():
            rows["cluster_card_oversold_by_policy"].append(((name, use), oversold))


def measure_drift(ledger: Ledger, metrics: Metrics) -> None:
    """Compare the ledger with a recount. Costs O(pods): to be called now and then."""
    metrics.ledger_drift.set(len(drift(ledger)))

"""The ledger's numbers as metrics, brought up to date when somebody scrapes."""

from ..metrics import Metrics
from ..quota.account import OUTSIDE, Account
from ..quota.cluster_report import cards_of, cluster_report
from ..quota.drift import drift
from ..quota.ledger import Ledger
from ..quota.queue_report import deserved
from ..quota.vocabulary import CPU, MEMORY


def refresh(ledger: Ledger, metrics: Metrics) -> None:
    """Write all gauges of queues and cards anew. Costs O(rows)."""
    metrics.clear_totals()
    metrics.uncounted_nodes.set(len({node for node, _ in ledger.nodes.problems()}))
    for account in ledger.accounts():
        _cards(ledger, account, metrics)
        if account.name != OUTSIDE:
            _resources(account, metrics)
            metrics.gated_pods.labels(account.name).set(len(account.waiting))
            metrics.unadmitted_pods.labels(account.name).set(len(account.past_us))
    _cluster(ledger, metrics)


def _cards(ledger: Ledger, account: Account, metrics: Metrics) -> None:
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
            metrics.queue_card[total].labels(account.name, card).set(value)


def _resources(account: Account, metrics: Metrics) -> None:
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
                metrics.queue_resource[total].labels(account.name, resource).set(value / unit)


def _cluster(ledger: Ledger, metrics: Metrics) -> None:
    for name, card in cluster_report(ledger).items():
        values = {
            "allocatable": card.allocatable,
            "allocated": card.allocated,
            "quota": card.guarantee,
            "guarantee": card.guarantee,
            "oversold": card.oversold,
        }
        for total, value in values.items():
            metrics.cluster_card[total].labels(name).set(value)
        for use, part in card.parts.items():
            parts = {"allocated": part.allocated, "guarantee": part.guarantee}
            for total, value in parts.items():
                metrics.cluster_card_by_policy[total].labels(name, use).set(value)
        for use, oversold in card.oversold_by_use().items():
            metrics.cluster_card_by_policy["oversold"].labels(name, use).set(oversold)


def measure_drift(ledger: Ledger, metrics: Metrics) -> None:
    """Compare the ledger with a recount. Costs O(pods): to be called now and then."""
    metrics.ledger_drift.set(len(drift(ledger)))

"""The ledger's numbers as metrics, brought up to date when somebody scrapes."""

from ..metrics import Metrics
from ..quota.account import OUTSIDE
from ..quota.drift import drift
from ..quota.ledger import Ledger
from ..quota.vocabulary import CPU, MEMORY


def refresh(ledger: Ledger, metrics: Metrics) -> None:
    """Write all gauges of queues and cards anew. Costs O(rows)."""
    for gauge in (*metrics.queue_card.values(), *metrics.cluster_card.values()):
        gauge.clear()
    metrics.gated_pods.clear()
    metrics.unadmitted_pods.clear()
    metrics.uncounted_nodes.set(len({node for node, _ in ledger.nodes.problems()}))
    allocated: dict[str, int] = {}
    quotas: dict[str, int] = {}
    for account in ledger.accounts():
        for card in {*account.quota, *account.rows} - {CPU, MEMORY}:
            row, quota = account.row(card), account.quota.get(card, 0)
            allocated[card] = allocated.get(card, 0) + row.allocated
            quotas[card] = quotas.get(card, 0) + quota
            values = {
                "quota": quota,
                "allocated": row.allocated,
                "inqueue": row.inqueue,
                "requested": row.requested,
                "elastic": row.elastic,
            }
            for total, value in values.items():
                metrics.queue_card[total].labels(account.name, card).set(value)
        if account.name != OUTSIDE:
            metrics.gated_pods.labels(account.name).set(len(account.waiting))
            metrics.unadmitted_pods.labels(account.name).set(len(account.past_us))
    for total, found in (
        ("allocatable", ledger.nodes.totals()),
        ("allocated", allocated),
        ("quota", quotas),
    ):
        for card, value in found.items():
            metrics.cluster_card[total].labels(card).set(value)


def measure_drift(ledger: Ledger, metrics: Metrics) -> None:
    """Compare the ledger with a recount. Costs O(pods): to be called now and then."""
    metrics.ledger_drift.set(len(drift(ledger)))

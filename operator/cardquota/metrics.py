"""Every metric, in one place. No pod names in labels: their number would know no bound."""

from typing import Final

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram

from .review_tally import ReviewTally

_QUICK: Final = (0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5)
_PATIENT: Final = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30)
_OF_A_QUEUE: Final = (
    *("quota", "allocated", "inqueue", "requested", "elastic", "guarantee", "deserved"),
)


class Metrics:
    """The operator's metrics in a registry of their own.

    Gauges of queues and cards hold what the ledger held when they were last written; see
    `control.queue_metrics`.
    """

    def __init__(self, registry: CollectorRegistry | None = None) -> None:
        self.registry = registry or CollectorRegistry()
        self.queue_card = {
            total: self._gauge(f"queue_card_{total}", f"Cards: {total}, by queue", "queue", "card")
            for total in _OF_A_QUEUE
        }
        self.queue_resource = {
            total: self._gauge(
                f"queue_resource_{total}",
                f"Cpu in cores, memory in bytes: {total}, by queue",
                *("queue", "resource"),
            )
            for total in _OF_A_QUEUE
        }
        self.cluster_card = {
            total: self._gauge(f"cluster_card_{total}", f"Cards: {total}, whole cluster", "card")
            for total in ("allocatable", "allocated", "quota", "guarantee", "oversold")
        }
        self.cluster_card_by_policy = {
            total: self._gauge(
                f"cluster_card_{total}_by_policy",
                f"Cards: {total}, whole cluster, by policy",
                *("card", "policy"),
            )
            for total in ("allocated", "guarantee", "oversold")
        }
        self.gated_pods = self._gauge("gated_pods", "Pods waiting at the gate", "queue")
        self.unadmitted_pods = self._gauge(
            "unadmitted_pods", "Pods charged that never passed admission", "queue"
        )
        self.uncounted_nodes = self._gauge(
            "uncounted_nodes", "Nodes with cards that are not counted"
        )
        self.installation_faults = self._gauge(
            "installation_faults",
            "1 where a webhook configuration or policy is not what `cardquota manifests` prints",
            "kind",
            "name",
        )
        self.ledger_drift = self._gauge(
            "ledger_drift", "Totals that differ between ledger and recount; 0 is right"
        )
        self.leader = self._gauge("leader", "1 while this replica decides")
        self.reflector_lag = self._gauge(
            "reflector_lag_seconds", "Seconds since a watch was last known current", "kind"
        )
        self.undecodable = Counter(
            "cardquota_undecodable_objects",
            "Objects that could not be read and were left out",
            ["kind"],
            registry=self.registry,
        )
        self.reviews = ReviewTally(
            "cardquota_admission_reviews", "cardquota_admission_review_seconds", _QUICK
        )
        self.registry.register(self.reviews)
        self.release_seconds = Histogram(
            "cardquota_release_seconds",
            "Time from room in the quota, or from the pod's arrival, to its gate opened",
            registry=self.registry,
            buckets=_PATIENT,
        )

    def clear_totals(self) -> None:
        """Forget the rows of all queues and cards, so that of what is gone nothing stays."""
        for gauges in (
            self.queue_card,
            self.queue_resource,
            self.cluster_card,
            self.cluster_card_by_policy,
        ):
            for gauge in gauges.values():
                gauge.clear()
        self.gated_pods.clear()
        self.unadmitted_pods.clear()

    def _gauge(self, name: str, text: str, *labels: str) -> Gauge:
        return Gauge(f"cardquota_{name}", text, list(labels), registry=self.registry)

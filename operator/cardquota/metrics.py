"""Every metric, in one place. Labels have no pod names: their number would be unbounded."""

from typing import Final

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram

from .total_gauges import TotalGauges

_QUICK: Final = (0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5)
_PATIENT: Final = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30)


class Metrics:
    """The operator's metrics in a registry of their own.

    `totals`, the metrics of queues and cards, show the ledger as of their last update; see
    `control.queues.queue_metrics`. They may be printed in another thread than the one that counts.
    """

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        self.totals = TotalGauges()
        self.registry.register(self.totals)
        self.uncounted_nodes = self._gauge(
            "uncounted_nodes", "Nodes with cards that are not counted; 0 is right"
        )
        self.unknown_modes = self._gauge(
            "namespaces_with_unknown_mode",
            "Namespaces whose label volcano.sh/card-quota means nothing; 0 is right",
        )
        self.installation_faults = self._gauge(
            "installation_faults",
            "1 where a webhook configuration or policy is not what `cardquota manifests` prints",
            "kind",
            "name",
        )
        self.fence_faults = self._gauge(
            "fence_faults",
            "1 while this replica leads and the API server's check of its term does not work: "
            "unwritten, refused, open, untried",
            "fault",
        )
        self.unwritten_queues = self._gauge(
            "unwritten_queues",
            "Queues whose numbers could not be written at the last try: what they show is old; "
            "only on the leader",
        )
        self.ledger_drift = self._gauge(
            "ledger_drift", "Totals that differ between ledger and recount; 0 is right"
        )
        self.leader = self._gauge(
            "leader", "1 while this replica leads; 1 is right for the sum of all"
        )
        self.reflector_lag = self._gauge(
            "reflector_lag_seconds",
            "For how long the view of a kind is known to be behind the API server; 0 is right",
            "kind",
        )
        self.loop_seconds = self._gauge(
            "loop_seconds",
            "Longest stretch for which the event loop held up everybody, last one to two minutes",
        )
        self.undecodable = self._counter(
            "undecodable_objects",
            "Objects that could not be read and were left out: the log says why; 0 is right",
            "kind",
        )
        self.kept_bytes = self._gauge(
            "kept_bytes",
            "Memory of waiting pods, idle groups, queues and workloads, as counted for the sums",
            "kind",
        )
        self.left_out = self._gauge(
            "left_out_objects",
            "Objects of which only the name is kept, since their sum is full; 0 is right",
            "kind",
        )
        self.reviews = self._counter(
            "admission_reviews",
            "Admission reviews, by what was written (pods, queues, scale, ...) and answer: allow, "
            "gate, cut (an autoscaler got a part), warn, deny, retry, malformed",
            "kind",
            "decision",
        )
        self.review_seconds = self._histogram(
            "admission_review_seconds", "Time to answer an admission review", _QUICK
        )
        self.requests_refused = self._counter(
            "requests_refused",
            "What a port did not serve, to keep memory bounded: bodies (too many bytes in work), "
            "connections (one closed for a newer one), slow (not there within 5 s)",
            "why",
        )
        self.woken = self._counter(
            "workloads_woken",
            "Workloads whose refused pods had room, and whose controllers were told to try again; "
            "only on the leader",
        )
        self.refused_writes = self._counter(
            "refused_writes",
            "Bindings (binding) and groups of pods (group) refused to users who are not in "
            "volcano.accounts; does not grow",
            "what",
        )
        self.refused_gates = self._counter(
            "refused_gates",
            "Times that the API server refused to open a gate, or would have: for the term (term), "
            "or since a webhook or policy of others objects (object); only on the leader",
            "why",
        )
        for why in ("term", "object"):
            self.refused_gates.labels(why)
        self.extender_seconds = self._histogram(
            "extender_seconds",
            "Time to answer a call of a scheduler: of the extender, or jobEnqueueable of Volcano",
            _QUICK,
            "verb",
        )
        self.enqueue_votes = self._counter(
            "enqueue_votes",
            "Answers to Volcano's scheduler, which asks for pod groups: permit, abstain, reject",
            "vote",
        )
        self.release_seconds = self._histogram(
            "release_seconds",
            "Time from room in the quota, or from the pod's creation, to its gate opened; only on "
            "the leader",
            _PATIENT,
        )

    def refused_request(self, why: str) -> None:
        """A server of ours did not serve somebody: `bodies`, `connections` or `slow`."""
        self.requests_refused.labels(why).inc()

    def _gauge(self, name: str, text: str, *labels: str) -> Gauge:
        return Gauge(f"cardquota_{name}", text, list(labels), registry=self.registry)

    def _counter(self, name: str, text: str, *labels: str) -> Counter:
        return Counter(f"cardquota_{name}", text, list(labels), registry=self.registry)

    def _histogram(
        self, name: str, text: str, buckets: tuple[float, ...], *labels: str
    ) -> Histogram:
        full = f"cardquota_{name}"
        return Histogram(full, text, list(labels), registry=self.registry, buckets=buckets)

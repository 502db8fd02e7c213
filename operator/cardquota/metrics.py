"""Every metric, in one place. Labels have no pod names: their number would be unbounded."""

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from itertools import accumulate
from typing import Final

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram
from prometheus_client.core import CounterMetricFamily, HistogramMetricFamily
from prometheus_client.metrics_core import Metric
from prometheus_client.registry import Collector

from .total_gauges import TotalGauges

_QUICK: Final = (0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5)
_PATIENT: Final = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30)


class ReviewTally(Collector):
    """A counter by kind and decision, and a histogram of seconds.

    Counted in plain integers by the event loop that answers the reviews, and turned into metrics at
    a scrape. The library's own counters take a lock and several calls for each number, which was a
    tenth of all our work in a review.
    """

    def __init__(self, reviews: str, seconds: str, bounds: Sequence[float]) -> None:
        """`reviews`, `seconds`: names of the two metrics. `bounds`: of the buckets, seconds."""
        self._reviews = reviews
        self._seconds = seconds
        self._bounds = tuple(bounds)
        self._names = [*(str(float(bound)) for bound in bounds), "+Inf"]
        self._counts: dict[tuple[str, str], int] = {}
        self._buckets = [0] * len(self._names)
        self._sum = 0.0

    def add(self, kind: str, decision: str, seconds: float) -> None:
        """Count a review. `kind` and `decision` must have few different values."""
        key = kind, decision
        self._counts[key] = self._counts.get(key, 0) + 1
        self._buckets[bisect_left(self._bounds, seconds)] += 1
        self._sum += seconds

    def collect(self) -> Iterator[Metric]:
        """Both metrics, as of now."""
        reviews = CounterMetricFamily(
            self._reviews,
            "Admission reviews, by what was written (pods, queues, scale, ...) and answer: allow, "
            "gate, cut (an autoscaler got a part), warn, deny, retry, malformed",
            labels=("kind", "decision"),
        )
        for labels, count in self._counts.items():
            reviews.add_metric(labels, count)
        yield reviews
        buckets = list(zip(self._names, accumulate(self._buckets), strict=True))
        text = "Time to answer an admission review"
        yield HistogramMetricFamily(self._seconds, text, buckets, self._sum)


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
        self.undecodable = Counter(
            "cardquota_undecodable_objects",
            "Objects that could not be read and were left out: the log says why; 0 is right",
            ["kind"],
            registry=self.registry,
        )
        self.kept_bytes = Gauge(
            "cardquota_kept_bytes",
            "Memory of waiting pods, idle groups, queues and workloads, as counted for the sums",
            ["kind"],
            registry=self.registry,
        )
        self.left_out = Gauge(
            "cardquota_left_out_objects",
            "Objects of which only the name is kept, since their sum is full; 0 is right",
            ["kind"],
            registry=self.registry,
        )
        self.reviews = ReviewTally(
            "cardquota_admission_reviews", "cardquota_admission_review_seconds", _QUICK
        )
        self.registry.register(self.reviews)
        self.requests_refused = Counter(
            "cardquota_requests_refused",
            "What a port did not serve, to keep memory bounded: bodies (too many bytes in work), "
            "connections (one closed for a newer one), slow (not there within 5 s)",
            ["why"],
            registry=self.registry,
        )
        self.woken = Counter(
            "cardquota_workloads_woken",
            "Workloads whose refused pods had room, and whose controllers were told to try again; "
            "only on the leader",
            registry=self.registry,
        )
        self.refused_writes = Counter(
            "cardquota_refused_writes",
            "Bindings (binding) and groups of pods (group) refused to users who are not in "
            "volcano.accounts; does not grow",
            ("what",),
            registry=self.registry,
        )
        self.refused_gates = Counter(
            "cardquota_refused_gates",
            "Times that the API server refused to open a gate, or would have: for the term (term), "
            "or since a webhook or policy of others objects (object); only on the leader",
            ("why",),
            registry=self.registry,
        )
        for why in ("term", "object"):
            self.refused_gates.labels(why)
        self.extender_seconds = Histogram(
            "cardquota_extender_seconds",
            "Time to answer a call of a scheduler: of the extender, or jobEnqueueable of Volcano",
            ["verb"],
            registry=self.registry,
            buckets=_QUICK,
        )
        self.enqueue_votes = Counter(
            "cardquota_enqueue_votes",
            "Answers to Volcano's scheduler, which asks for pod groups: permit, abstain, reject",
            ["vote"],
            registry=self.registry,
        )
        self.release_seconds = Histogram(
            "cardquota_release_seconds",
            "Time from room in the quota, or from the pod's creation, to its gate opened; only on "
            "the leader",
            registry=self.registry,
            buckets=_PATIENT,
        )

    def refused_request(self, why: str) -> None:
        """A server of ours did not serve somebody: `bodies`, `connections` or `slow`."""
        self.requests_refused.labels(why).inc()

    def _gauge(self, name: str, text: str, *labels: str) -> Gauge:
        return Gauge(f"cardquota_{name}", text, list(labels), registry=self.registry)

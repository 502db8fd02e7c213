"""Every metric, in one place. Labels have no pod names: their number would be unbounded. Of queues
and cards there are at least as many rows as all queues have cards together.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Final, NamedTuple

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram
from prometheus_client.core import GaugeMetricFamily
from prometheus_client.registry import Collector

Row = tuple[tuple[str, ...], float]
"""The values of the labels, and the number."""
Rows = Mapping[str, Sequence[Row]]
"""By name of the gauge."""


class Family(NamedTuple):
    """One gauge."""

    name: str
    """Without our prefix."""
    text: str
    labels: tuple[str, ...]


_OF_A_QUEUE: Final = {
    "allocated": "held by pods on nodes",
    "inqueue": "released or reserved, and not yet on a node",
    "requested": "asked for by all pods that have not finished",
    "elastic": "the part of allocated beyond the minimum of pod groups",
}
_CARDS_OF_A_QUEUE: Final = {
    "quota": "the quota in force",
    **_OF_A_QUEUE,
    "guarantee": "what the queue is guaranteed: its quota",
    "deserved": "what the queue is owed by its own words (L1), else its share by weight",
    "surge": "what rolling updates may borrow; no row if they may not",
    "borrowed": "what is held beyond what is deserved (L1); no row if nothing is and may be (R6)",
}
_RESOURCES_OF_A_QUEUE: Final = {
    "quota": "the limit; no row if there is none",
    **_OF_A_QUEUE,
    "guarantee": "spec.guarantee; no row if it has none",
    "deserved": "spec.deserved; no row if it has none",
}
_CARDS: Final = {
    "allocatable": "what the nodes have",
    "allocated": "held by pods on nodes, with and without a queue",
    "quota": "all quotas added up",
    "guarantee": "the same, as what is guaranteed",
    "oversold": "how much all quotas together exceed what the nodes have",
}
_CARDS_BY_POLICY: Final = {
    "allocated": "held by pods on nodes, by policy",
    "guarantee": "quotas, by policy",
    "oversold": "oversold, by policy: on-line quotas (Deny) are covered first",
}
FAMILIES: Final = (
    *(
        Family(f"queue_card_{total}", f"Cards: {text}", ("queue", "card"))
        for total, text in _CARDS_OF_A_QUEUE.items()
    ),
    Family(
        "queue_card_reserved",
        "Cards: reserved for pod groups, and used by no pod yet; of a choice of cards, the first",
        ("queue", "namespace", "card"),
    ),
    *(
        Family(
            f"queue_resource_{total}",
            f"Cpu in cores, memory in bytes: {text}",
            ("queue", "resource"),
        )
        for total, text in _RESOURCES_OF_A_QUEUE.items()
    ),
    *(
        Family(f"cluster_card_{total}", f"Cards: {text}", ("card",))
        for total, text in _CARDS.items()
    ),
    *(
        Family(f"cluster_card_{total}_by_policy", f"Cards: {text}", ("card", "policy"))
        for total, text in _CARDS_BY_POLICY.items()
    ),
    Family(
        "unlimited_memory_pods",
        "Pods with card memory that no quota limits; 0 if you want it limited",
        ("unit",),
    ),
    Family("unlimited_memory", "How much card memory they hold, in MiB or GiB", ("unit",)),
    Family("gated_pods", "Pods that wait at their gate", ("queue",)),
    Family(
        "waiting_pods",
        "Pods that wait at their gate, by the reason of the last decision; only on the leader",
        ("queue", "reason"),
    ),
    Family(
        "queue_oldest_wait_seconds",
        "How long the pod that was created first has waited at its gate; 0 if none waits",
        ("queue",),
    ),
    Family(
        "queue_median_wait_seconds",
        "How long at least half of the waiting pods have waited; 0 if none waits. Close to the "
        "oldest wait: nothing moves",
        ("queue",),
    ),
    Family(
        "queue_oldest_terminating_seconds",
        "For how long the first pod that is being deleted and holds cards should have been gone; 0 "
        "if none is late",
        ("queue",),
    ),
    Family(
        "unadmitted_pods",
        "Pods that hold something, and whose gate the operator never opened; without those that "
        "audit mode admitted. 0 is right",
        ("queue",),
    ),
)


class TotalGauges(Collector):
    """The ledger's numbers as of their last update.

    Not the library's own gauges: setting those of 300 queues holds up the event loop, and with it
    every review, for a second. Here the loop hands over plain rows, and a scrape turns them into
    metrics in its own thread.
    """

    def __init__(self) -> None:
        self._rows: Rows = {}

    def shown(self, name: str) -> Sequence[Row]:
        """The rows of one gauge that are shown now."""
        return self._rows.get(name, ())

    def show(self, rows: Rows) -> None:
        """Show only these rows from now on. They must not change any more."""
        self._rows = rows

    def describe(self) -> Iterable[GaugeMetricFamily]:
        """The gauges without rows."""
        return [_empty(family) for family in FAMILIES]

    def collect(self) -> Iterable[GaugeMetricFamily]:
        """The gauges as last shown, all of one moment."""
        rows = self._rows
        for family in FAMILIES:
            found = _empty(family)
            for labels, value in rows.get(family.name, ()):
                found.add_metric(labels, value)
            yield found


def _empty(family: Family) -> GaugeMetricFamily:
    return GaugeMetricFamily(f"cardquota_{family.name}", family.text, labels=family.labels)


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
        self.undecodable = self._gauge(
            "undecodable_objects",
            "Objects that exist, cannot be read and are left out: the log says why; 0 is right",
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
        self.audited_pods = self._counter(
            "audited_pods",
            "Pods that audit mode let by on create, and enforcement would have refused (deny), or "
            "gated without room (gate)",
            "queue",
            "namespace",
            "effect",
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
        self.evictions = self._counter(
            "reclaim_evictions",
            "Pods ended for others, by their queue: of another queue, which deserves the cards "
            "(reclaim), or of higher priority in the same (preempt); only on the leader",
            "queue",
            "way",
        )
        self.would_evict = self._counter(
            "reclaim_would_evict",
            "The same, where the mode is dryRun: none is ended",
            "queue",
            "way",
        )
        self.evictions_refused = self._counter(
            "reclaim_refused",
            "Evictions that the API server refused, by the pod's queue, mostly for a "
            "PodDisruptionBudget: others were looked for; only on the leader",
            "queue",
        )
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

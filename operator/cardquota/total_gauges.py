"""The gauges of queues and cards: at least as many rows as all queues have cards together."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Final, NamedTuple

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
    "deserved": "its share of what the cluster has, by weight; less than the quota if oversold",
    "surge": "what rolling updates may borrow; no row if they may not",
    "borrowed": "what rolling updates have borrowed; 0 unless one runs",
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

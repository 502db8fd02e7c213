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


_OF_A_QUEUE: Final = (
    *("quota", "allocated", "inqueue", "requested", "elastic", "guarantee", "deserved"),
)
FAMILIES: Final = (
    *(
        Family(f"queue_card_{total}", f"Cards: {total}, by queue", ("queue", "card"))
        for total in _OF_A_QUEUE
    ),
    Family("queue_card_surge", "Cards that rolling updates may borrow", ("queue", "card")),
    Family("queue_card_borrowed", "Cards that rolling updates have borrowed", ("queue", "card")),
    Family(
        "queue_card_reserved",
        "Cards that are reserved for groups, and that no pod of theirs uses yet",
        ("queue", "namespace", "card"),
    ),
    *(
        Family(
            f"queue_resource_{total}",
            f"Cpu in cores, memory in bytes: {total}, by queue",
            ("queue", "resource"),
        )
        for total in _OF_A_QUEUE
    ),
    *(
        Family(f"cluster_card_{total}", f"Cards: {total}, whole cluster", ("card",))
        for total in ("allocatable", "allocated", "quota", "guarantee", "oversold")
    ),
    *(
        Family(
            f"cluster_card_{total}_by_policy",
            f"Cards: {total}, whole cluster, by policy",
            ("card", "policy"),
        )
        for total in ("allocated", "guarantee", "oversold")
    ),
    Family("unlimited_memory_pods", "Pods with card memory that no quota limits", ("unit",)),
    Family("unlimited_memory", "Card memory in use that no quota limits, by unit", ("unit",)),
    Family("gated_pods", "Pods waiting at the gate", ("queue",)),
    Family(
        "waiting_pods",
        "Pods waiting at the gate, by why they wait; on the leader alone",
        ("queue", "reason"),
    ),
    Family(
        "queue_oldest_wait_seconds",
        "How long the pod that was created first has waited at its gate; 0 where none waits",
        ("queue",),
    ),
    Family(
        "queue_median_wait_seconds",
        "How long at least half of the waiting pods have waited; 0 where none waits",
        ("queue",),
    ),
    Family(
        "queue_oldest_terminating_seconds",
        "For how long the first pod that is being deleted and holds cards should have been gone; 0 "
        "where none is late",
        ("queue",),
    ),
    Family("unadmitted_pods", "Pods charged that never passed admission", ("queue",)),
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

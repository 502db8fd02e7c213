"""The number of admission reviews, their answers, and the time they took."""

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from itertools import accumulate

from prometheus_client.core import CounterMetricFamily, HistogramMetricFamily
from prometheus_client.metrics_core import Metric
from prometheus_client.registry import Collector


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

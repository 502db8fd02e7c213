"""How the metrics are asked for. All replicas count the same objects, so of a gauge the highest
counts, and never the sum. A counter counts what one replica did: those add up.
"""

from typing import Final

OPERATOR: Final = "cardquota"
NODE: Final = "cardquota_node"
OF_SCRAPE: Final = ("instance", "pod")
"""Labels that Prometheus adds: which process it was."""


def highest(name: str, *labels: str, where: str = "", of: str = OPERATOR) -> str:
    """A gauge, as the replica that has most says, for each value of the labels."""
    return f"max{_by(labels)}({of}_{name}{_matching(where)})"


def lowest(name: str, *labels: str, where: str = "", of: str = OPERATOR) -> str:
    """A gauge, as the process that has least says."""
    return f"min{_by(labels)}({of}_{name}{_matching(where)})"


def speed(
    name: str, *labels: str, where: str = "", window: str = "$__rate_interval", of: str = OPERATOR
) -> str:
    """By how much a counter grows in a second, for each value of the labels, over all replicas."""
    return f"sum{_by(labels)}(rate({of}_{name}{_matching(where)}[{window}]))"


def growth(name: str, *labels: str, where: str = "", window: str = "$__range") -> str:
    """By how much a counter grew, over all replicas."""
    return f"sum{_by(labels)}(increase({OPERATOR}_{name}{_matching(where)}[{window}]))"


def quantile(part: float, name: str, window: str = "$__rate_interval") -> str:
    """The value that this part of a histogram stays below, over all replicas."""
    return f"histogram_quantile({part}, {speed(f'{name}_bucket', 'le', window=window)})"


def hours(gauge: str, window: str = "$__range") -> str:
    """What a gauge held times for how long, in hours: with one sample a minute."""
    return f"sum_over_time({gauge}[{window}:1m]) / 60"


def _by(labels: tuple[str, ...]) -> str:
    return f" by ({', '.join(labels)}) " if labels else ""


def _matching(where: str) -> str:
    return f"{{{where}}}" if where else ""

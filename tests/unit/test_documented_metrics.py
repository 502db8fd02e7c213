"""docs/metrics.md names every metric with its type and labels, and no other."""

import re
from pathlib import Path
from typing import Final, NamedTuple

import yaml
from prometheus_client import Metric
from prometheus_client.metrics import MetricWrapperBase

from cardquota.metrics import Metrics
from cardquota.total_gauges import FAMILIES, Family

CHECKOUT: Final = Path(__file__).parents[2]
DOCUMENT: Final = CHECKOUT / "docs" / "metrics.md"
RULES: Final = CHECKOUT / "manifests" / "components" / "alerts" / "rules.yaml"
COLUMNS: Final = 6
CELL: Final = re.compile(r"(?<!\\)\|")


class MetricRow(NamedTuple):
    name: str
    kind: str
    labels: tuple[str, ...]


def documented() -> dict[str, list[str]]:
    """The other cells of each row that begins with the name of a metric."""
    lines = [line for line in DOCUMENT.read_text().splitlines() if line.startswith("| `cardquota_")]
    rows = [[cell.strip() for cell in CELL.split(line)[1:-1]] for line in lines]
    found = {cells[0].strip("`"): cells[1:] for cells in rows}
    assert len(found) == len(rows), "a metric stands there twice"
    return found


def samples_of(families: tuple[Family, ...]) -> dict[str, list[tuple[tuple[str, ...], float]]]:
    return {family.name: [(family.labels, 1.0)] for family in families}


def exported() -> dict[str, MetricRow]:
    """All that a registry has, after each metric was used once."""
    metrics = Metrics()
    rows = documented()
    for one in vars(metrics).values():
        if isinstance(one, MetricWrapperBase):
            name = next(iter(one.describe())).name
            cells = rows.get(name) or rows.get(f"{name}_total")
            if cells and (labels := labels_in(cells[1])):
                # Raises an error if the metric has others.
                one.labels(**dict.fromkeys(labels, "x"))
    metrics.totals.show(samples_of(FAMILIES))
    metrics.reviews.add("pods", "allow", 0.1)
    found = [row_of(metric) for metric in metrics.registry.collect()]
    return {row.name: row for row in found}


def row_of(metric: Metric) -> MetricRow:
    name = f"{metric.name}_total" if metric.type == "counter" else metric.name
    labels = metric.samples[0].labels if metric.samples else {"?": ""}
    return MetricRow(name, metric.type, tuple(sorted(label for label in labels if label != "le")))


def labels_in(cell: str) -> tuple[str, ...]:
    return tuple(sorted(re.findall(r"`(\w+)`", cell)))


def test_every_metric_is_documented_and_no_other() -> None:
    assert sorted(documented()) == sorted(exported())


def test_types_and_labels_are_those_of_the_registry() -> None:
    found = {
        name: MetricRow(name, cells[0], labels_in(cells[1])) for name, cells in documented().items()
    }
    assert found == exported()


def test_every_metric_says_what_it_is_and_what_is_normal() -> None:
    for name, cells in documented().items():
        assert len(cells) == COLUMNS - 1, name
        _, _, _, meaning, normal = cells
        assert meaning, name
        assert normal, name


def test_alerts_use_metrics_that_exist() -> None:
    section = DOCUMENT.read_text().partition("## Alerts")[2].partition("\n## ")[0]
    used = set(re.findall(r"cardquota_\w+", section))
    assert len(used) > 8
    assert {name.removesuffix("_bucket") for name in used} <= exported().keys()


def test_r7_the_rules_of_the_manifests_are_documented_alerts() -> None:
    section = DOCUMENT.read_text().partition("## Alerts")[2].partition("\n## ")[0]
    (group,) = yaml.safe_load(RULES.read_text())["spec"]["groups"]
    rules = [(rule["expr"], rule["for"]) for rule in group["rules"]]
    assert len(rules) == 2
    for expression, long in rules:
        (row,) = [line for line in section.splitlines() if f"`{expression}`" in line]
        assert row.endswith(f"| {long} |")

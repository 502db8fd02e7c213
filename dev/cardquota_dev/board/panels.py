"""The three forms of panels: one number, lines over time, a table of what is now."""

from collections.abc import Iterator, Mapping
from typing import Final

from grafana_foundation_sdk.builders import common as common_builders
from grafana_foundation_sdk.builders import dashboard as builders
from grafana_foundation_sdk.builders import prometheus, stat, table, timeseries
from grafana_foundation_sdk.models import common
from grafana_foundation_sdk.models import dashboard as models
from grafana_foundation_sdk.models.prometheus import PromQueryFormat

SOURCE: Final = "datasource"
"""The variable that chooses the Prometheus."""
_FROM: Final = models.DataSourceRef(type_val="prometheus", uid=f"${{{SOURCE}}}")
_HEIGHT: Final = 8
_LOW: Final = 4

_TABLE: Final = PromQueryFormat.TABLE

Panel = stat.Panel | table.Panel | timeseries.Panel
Queries = Mapping[str, str]
"""Expressions by what Grafana calls their results: with `{{label}}`, or a column of a table."""


def number(
    title: str, text: str, expr: str, *, unit: str = "short", bad: float | None = 1
) -> stat.Panel:
    """One number now. It is red from `bad` on."""
    return (
        stat.Panel()
        .title(title)
        .description(text)
        .datasource(_FROM)
        .unit(unit)
        .span(4)
        .height(_LOW)
        .graph_mode(common.BigValueGraphMode.NONE)
        .reduce_options(common_builders.ReduceDataOptions().calcs(["lastNotNull"]))
        .thresholds(_thresholds(bad))
        .with_target(_query("A", expr, title).instant())
    )


def lines(
    title: str,
    text: str,
    queries: Queries,
    *,
    unit: str = "short",
    span: int = 12,
    stacked: bool = False,
) -> timeseries.Panel:
    """Lines over time, a line for each value of the labels in its name."""
    panel = (
        timeseries.Panel()
        .title(title)
        .description(text)
        .datasource(_FROM)
        .unit(unit)
        .span(span)
        .height(_HEIGHT)
        .axis_soft_min(0)
        .fill_opacity(20 if stacked else 0)
        .show_points(common.VisibilityMode.NEVER)
        .legend(
            common_builders.VizLegendOptions()
            .display_mode(common.LegendDisplayMode.LIST)
            .placement(common.LegendPlacement.BOTTOM)
            .show_legend(True)
        )
        .tooltip(common_builders.VizTooltipOptions().mode(common.TooltipDisplayMode.MULTI))
    )
    if stacked:
        panel.stacking(common_builders.StackingConfig().mode(common.StackingMode.NORMAL))
    for letter, (name, expr) in _lettered(queries):
        panel.with_target(_query(letter, expr, name).range())
    return panel


def rows(title: str, text: str, queries: Queries, *, span: int = 12) -> table.Panel:
    """A table of what is now: a column for each query, a row for each value of their labels."""
    panel = (
        table.Panel()
        .title(title)
        .description(text)
        .datasource(_FROM)
        .span(span)
        .height(_HEIGHT)
        .decimals(0)
        .filterable(True)
    )
    only = len(queries) == 1
    names: dict[str, str] = {}
    for letter, (name, expr) in _lettered(queries):
        names["Value" if only else f"Value #{letter}"] = name
        panel.with_target(_query(letter, expr, "").instant().format(_TABLE))
    organized = {"excludeByName": {"Time": True}, "renameByName": names}
    for kind, options in (("merge", {}), ("organize", organized)):
        panel.with_transformation(models.DataTransformerConfig(id_val=kind, options=options))
    return panel


def _lettered(queries: Queries) -> Iterator[tuple[str, tuple[str, str]]]:
    return zip("ABCDEFGHIJ"[: len(queries)], queries.items(), strict=True)


def _query(letter: str, expr: str, name: str) -> prometheus.Dataquery:
    return prometheus.Dataquery().datasource(_FROM).ref_id(letter).expr(expr).legend_format(name)


def _thresholds(bad: float | None) -> builders.ThresholdsConfig:
    steps = [models.Threshold(color="green")]
    if bad is not None:
        steps.append(models.Threshold(value=bad, color="red"))
    return builders.ThresholdsConfig().mode(models.ThresholdsMode.ABSOLUTE).steps(steps)

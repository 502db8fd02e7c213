"""Every metric that board, rules and documents name exists, with these labels, and is added up over
replicas only if it counts what one replica did. No Prometheus is needed.
"""

import re
from typing import Final

from cardquota_dev.reference.reference_page import page
from cardquota_node.inventory.node_card import NodeCard
from cardquota_node.memory_units import UnitSetting
from cardquota_node.node_cards import NodeCards
from cardquota_node.node_metrics import NodeMetrics

from .expressions_used import asked, dashboard, of_document, of_panels, rules

ROW: Final = re.compile(r"^\| `(cardquota_\w+)` \| (\w+) \| (.*?) \|", re.MULTILINE)
OF_SCRAPE: Final = {"instance", "pod"}


def metrics() -> dict[str, tuple[str, set[str]]]:
    """Type and labels by the name that Prometheus knows, of the code as it is now."""
    found = {}
    for name, kind, labels in ROW.findall(page()):
        known = {label.strip("` ") for label in labels.split(",") if label.strip()}
        if kind == "histogram":
            found[f"{name}_bucket"] = "counter", known | {"le"}
        else:
            found[name] = kind, known
    return found | of_the_node()


def of_the_node() -> dict[str, tuple[str, set[str]]]:
    cards = NodeCards(UnitSetting.AUTO)
    cards.see([NodeCard(index=0, uuid="GPU-1", product="A", path="/dev/a", memory=1024)])
    text = NodeMetrics(cards).text()
    kinds = dict(re.findall(r"^# TYPE (\w+) (\w+)$", text, re.MULTILINE))
    return {
        name: (kinds[name], set(re.findall(r'(\w+)="', labels)))
        for name, labels in re.findall(r"^(cardquota_node_\w+)\{(.*)\} ", text, re.MULTILINE)
    }


def test_each_metric_exists_with_its_labels_and_no_sum_is_over_replicas() -> None:
    known = metrics()
    expressions = [*of_panels(), *(one["expr"] for one in rules()), *of_document()]
    found = [one for expression in expressions for one in asked(expression)]
    assert len(found) > 80
    for one in found:
        assert one.name in known, one
        kind, labels = known[one.name]
        if one.name.startswith("cardquota_node_") or one.by != "sum":
            labels = labels | OF_SCRAPE
        assert one.labels <= labels, one
        if kind == "gauge":
            assert (one.by, one.over) in {("max", ""), ("min", "")}, one
        elif one.by != "max" or one.over:  # else what one replica has seen since its start
            assert one.by == "sum", one
            assert one.over in ("rate", "increase"), one


def test_the_values_of_variables_are_those_of_metrics() -> None:
    known = metrics()
    queries = [one["query"] for one in dashboard()["templating"]["list"] if one["type"] == "query"]
    assert len(queries) == 2
    for query in queries:
        name, label = re.fullmatch(r"label_values\((\w+), (\w+)\)", query).groups()  # type: ignore[union-attr]
        assert label in known[name][1]


def test_a_label_that_an_alert_shows_is_left_by_its_expression() -> None:
    """Else the sentence has a gap."""
    for rule in rules():
        shown = set(re.findall(r"\$labels\.(\w+)", rule["annotations"]["summary"]))
        by = [set(one.labels) for one in asked(rule["expr"])]
        assert all(shown <= labels for labels in by), rule["alert"]


def test_no_name_of_a_queue_or_card_stands_in_an_expression_but_by_a_variable() -> None:
    """Grafana escapes what it puts in for a variable with several values."""
    variables = {one["name"]: one for one in dashboard()["templating"]["list"]}
    for expression in of_panels():
        for label, value in re.findall(r'(queue|card)=~?"([^"]*)"', expression):
            assert value == f"${label}"
            assert variables[label]["multi"]
            assert variables[label]["allValue"] == ".*"


def test_cards_of_several_names_are_never_added_up() -> None:
    """The unit of a row of card memory is MiB."""
    for expression in of_panels():
        for one in asked(expression):
            if "_card_" in one.name and not one.name.startswith("cardquota_node_"):
                assert "card" in one.labels, expression
        assert "sum(" not in expression


def test_t5_how_long_cards_are_held_is_asked_of_a_gauge_and_counted_nowhere() -> None:
    known = metrics()
    assert known["cardquota_queue_card_allocated"][0] == "gauge"
    assert not [name for name in known if "card_seconds" in name]
    (expression,) = of_document()
    assert [one.name for one in asked(expression)] == ["cardquota_queue_card_allocated"]

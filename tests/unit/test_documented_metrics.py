"""The alerts of docs/metrics.md use metrics that exist; those of the manifests are among them."""

import re
from pathlib import Path
from typing import Final

import yaml

from cardquota.metrics import Metrics

CHECKOUT: Final = Path(__file__).parents[2]
DOCUMENT: Final = CHECKOUT / "docs" / "metrics.md"
RULES: Final = CHECKOUT / "manifests" / "components" / "alerts" / "rules.yaml"


def alerts() -> str:
    return DOCUMENT.read_text().partition("## Alerts")[2].partition("\n## ")[0]


def test_metrics_that_are_named_exist() -> None:
    ends = re.compile("_(bucket|total)$")
    used = {ends.sub("", name) for name in re.findall(r"cardquota_\w+", DOCUMENT.read_text())}
    assert len(used) > 8
    assert used - {"cardquota_"} <= {one.name for one in Metrics().registry.collect()}


def test_r7_the_rules_of_the_manifests_are_documented_alerts() -> None:
    (group,) = yaml.safe_load(RULES.read_text())["spec"]["groups"]
    rules = [(rule["expr"], rule["for"]) for rule in group["rules"]]
    assert len(rules) == 2
    for expression, long in rules:
        (row,) = [line for line in alerts().splitlines() if f"`{expression}`" in line]
        assert row.endswith(f"| {long} |")


def test_t5_how_long_cards_are_held_is_asked_of_a_gauge_and_counted_nowhere() -> None:
    kinds = {one.name: one.type for one in Metrics().registry.collect()}
    assert kinds["cardquota_queue_card_allocated"] == "gauge"
    assert not [name for name in kinds if "card_seconds" in name]

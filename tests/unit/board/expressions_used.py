"""What board, rules and documents ask of the metrics: each name, how it is aggregated, by which
labels.
"""

import json
import re
from collections.abc import Iterator
from typing import Any, Final, NamedTuple

import yaml

from cardquota_dev.board.__main__ import DASHBOARD, RULES
from cardquota_dev.paths import CHECKOUT

_NAME: Final = re.compile(r"cardquota_\w+")
_ASKED: Final = re.compile(
    r"(?P<by>max|min|sum)(?: by \((?P<labels>[^)]*)\) )?"
    r"\((?:(?P<over>rate|increase)\()?(?P<name>cardquota_\w+)(?:\{(?P<where>[^}]*)\})?"
)
_MATCHED: Final = re.compile(r"(\w+)=~?\"")


class AskedMetric(NamedTuple):
    """One metric in one expression."""

    name: str
    by: str
    """max, min or sum."""
    over: str
    """rate, increase or nothing."""
    labels: frozenset[str]


def asked(expression: str) -> list[AskedMetric]:
    """All of them. Each metric is aggregated over the replicas where it stands."""
    found = [
        AskedMetric(
            one["name"],
            one["by"],
            one["over"] or "",
            frozenset(filter(None, (one["labels"] or "").split(", ")))
            | frozenset(_MATCHED.findall(one["where"] or "")),
        )
        for one in _ASKED.finditer(expression)
    ]
    assert len(found) == len(_NAME.findall(expression)), expression
    return found


def dashboard() -> dict[str, Any]:
    """As it is committed."""
    found: dict[str, Any] = json.loads(DASHBOARD.read_text())
    return found


def of_panels() -> Iterator[str]:
    """The expressions of all panels."""
    for panel in dashboard()["panels"]:
        for target in panel.get("targets", ()):
            yield target["expr"]


def rules() -> list[dict[str, Any]]:
    """As they are committed."""
    (group,) = yaml.safe_load(RULES.read_text())["spec"]["groups"]
    found: list[dict[str, Any]] = group["rules"]
    return found


def of_document() -> Iterator[str]:
    """The expressions of docs/metrics.md."""
    text = (CHECKOUT / "docs" / "metrics.md").read_text()
    return (block for block in re.findall(r"```promql\n(.*?)```", text, re.DOTALL))

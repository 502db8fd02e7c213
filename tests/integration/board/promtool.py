"""Prometheus' own check of rules, and its unit tests of rules."""

import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import yaml

from cardquota_dev.board.__main__ import RULES

Rule = dict[str, Any]


def committed_rules() -> list[Rule]:
    (group,) = yaml.safe_load(RULES.read_text())["spec"]["groups"]
    found: list[Rule] = group["rules"]
    return found


def rule_file(path: Path, rules: Sequence[Rule]) -> Path:
    groups = [{"name": "cardquota", "rules": list(rules)}]
    path.write_text(yaml.safe_dump({"groups": groups}))
    return path


def promtool(programs: Path, *arguments: str) -> str:
    """What it says. Fails with that."""
    done = subprocess.run(
        [str(programs / "promtool"), *arguments],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def unit_test(series: Mapping[str, str], expected: Mapping[int, Mapping[str, Any]]) -> Rule:
    """One test: `series` with a value each minute; `expected`: by minute the alerts that fire, each
    with its labels and annotations, and no others.
    """
    return {
        "interval": "1m",
        "input_series": [{"series": name, "values": values} for name, values in series.items()],
        "alert_rule_test": [
            {
                "eval_time": f"{minute}m",
                "alertname": rule["alert"],
                "exp_alerts": firing.get(rule["alert"], []),
            }
            for minute, firing in expected.items()
            for rule in committed_rules()
        ],
    }

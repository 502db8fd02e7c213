"""The committed dashboard is one that Grafana's own models read, and each alert has its section in
the runbook.
"""

import json
import re
from typing import Any, Final

from grafana_foundation_sdk.cog.encoder import JSONEncoder
from grafana_foundation_sdk.cog.plugins import register_default_plugins
from grafana_foundation_sdk.cog.runtime import UnknownDataquery
from grafana_foundation_sdk.models.dashboard import Dashboard, Panel

from cardquota_dev.paths import CHECKOUT

from .expressions_used import dashboard, rules

RUNBOOK: Final = (CHECKOUT / "docs" / "runbook.md").read_text()


def test_nothing_of_the_board_is_lost_on_the_models_of_grafana() -> None:
    register_default_plugins()
    read = Dashboard.from_json(dashboard())
    assert json.loads(json.dumps(read, cls=JSONEncoder)) == dashboard()
    panels = [one for one in read.panels or () if isinstance(one, Panel)]
    assert len(panels) > 20
    for panel in panels:
        assert not isinstance(panel.options, dict), panel.title
        assert panel.targets
        assert not any(isinstance(one, UnknownDataquery) for one in panel.targets)


def test_panels_do_not_overlap_and_fill_the_width() -> None:
    taken: set[tuple[int, int]] = set()
    for panel in dashboard()["panels"]:
        place = panel["gridPos"]
        cells = {
            (place["x"] + right, place["y"] + down)
            for right in range(place["w"])
            for down in range(place["h"])
        }
        assert not taken & cells, panel["title"]
        taken |= cells
    height = max(down for _, down in taken) + 1
    assert taken == {(right, down) for right in range(24) for down in range(height)}
    identities = [panel["id"] for panel in dashboard()["panels"]]
    assert len(set(identities)) == len(identities)


def test_each_panel_says_what_it_shows_and_asks_the_source_that_is_chosen() -> None:
    for panel in dashboard()["panels"]:
        if panel["type"] != "row":
            assert panel["description"].endswith("."), panel["title"]
            for one in (panel, *panel["targets"]):
                assert one["datasource"] == {"type": "prometheus", "uid": "${datasource}"}


def sections() -> dict[str, str]:
    """The runbook's, by heading."""
    _, *parts = re.split(r"^## ", RUNBOOK, flags=re.MULTILINE)
    return {heading: text for heading, _, text in (part.partition("\n") for part in parts)}


def test_r7_each_alert_has_its_section_and_each_section_its_alert() -> None:
    names = [rule["alert"] for rule in rules()]
    assert list(sections()) == names
    for rule in rules():
        text = sections()[rule["alert"]]
        assert rule["annotations"]["runbook"] == f"docs/runbook.md#{rule['alert'].lower()}"
        meaning, commands, what_to_do = _parts(text)
        assert meaning
        assert commands.startswith("$ kubectl")
        assert what_to_do
    stuck = {"CardquotaPodWaitsLong", "CardquotaPodLateToEnd"}
    assert stuck <= set(names)


def _parts(section: str) -> tuple[str, str, str]:
    found = re.fullmatch(r"(.+?)```console\n(.+?)```\n(.+)", section, re.DOTALL)
    assert found, section
    meaning, commands, rest = (part.strip() for part in found.groups())
    return meaning, commands, rest


def test_each_alert_has_a_severity_a_time_and_a_sentence_with_what_it_found() -> None:
    for rule in rules():
        assert rule["labels"]["severity"] in ("critical", "warning")
        assert re.fullmatch(r"\d+m", rule["for"])
        summary: str = rule["annotations"]["summary"]
        assert summary.endswith("."), summary
        shows: list[Any] = re.findall(r"\{\{ .*?\$(?:labels|value)", summary)
        assert shows or rule["alert"] in ("CardquotaAbsent", "CardquotaNoLeader")

"""`manifests/components/extender` and its scheduler."""

import re
from pathlib import Path

import pytest
import yaml

from .kustomized import built, by_name, container
from .policy_api import ROOT, PolicyApi

pytestmark = [pytest.mark.disruptive, pytest.mark.slow]

GUIDE = ROOT / "docs" / "extender.md"
SCHEDULER = "cardquota-scheduler"


def test_without_the_second_scheduler_as_the_guide_says(api: PolicyApi, tmp_path: Path) -> None:
    patches = re.search(r"```yaml\n(patches:\n.*?)```", GUIDE.read_text(), re.DOTALL)
    assert patches is not None
    found = by_name(built(api, tmp_path, "extender", **yaml.safe_load(patches[1])))
    everything = by_name(built(api, tmp_path, "extender"))
    gone = {name for name in everything if name not in found}
    assert gone == {name for name in everything if name[1].startswith(SCHEDULER)}
    assert ("Deployment", SCHEDULER) in gone


def test_who_is_called_has_a_port(api: PolicyApi, tmp_path: Path) -> None:
    ports = container(by_name(built(api, tmp_path, "extender")))["ports"]
    assert [port["name"] for port in ports] == ["extender", "webhook", "metrics", "probes"]

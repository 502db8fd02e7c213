"""What is generated of the chart, without Helm: tests with the real one are in `integration`."""

import itertools
import json
import random
import re
from collections.abc import Iterator
from enum import Enum
from typing import Any

import pytest
import yaml
from pydantic import BaseModel

from cardquota.install.kubernetes_versions import OLDEST
from cardquota.install.manifests import documents
from cardquota.install.scheduler_configuration import scheduler_text
from cardquota.settings import Settings
from cardquota.vendor_row import VendorRow
from cardquota_dev.chart.__main__ import main
from cardquota_dev.chart.admission import FIXED, KNOWN, with_values
from cardquota_dev.chart.variants import merged
from cardquota_dev.paths import CHECKOUT


def test_committed_files_are_up_to_date(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CARDQUOTA_MODE", "audit")
    assert main(["--check"]) == 0


def test_a_mapping_takes_no_keys_but_those_of_its_pattern() -> None:
    def mappings(part: Any) -> Iterator[dict[str, Any]]:
        if isinstance(part, dict) and "patternProperties" in part:
            yield part
        for one in part.values() if isinstance(part, dict) else ():
            yield from mappings(one)

    file = CHECKOUT / "charts" / "cardquota" / "values.schema.json"
    found = list(mappings(json.loads(file.read_text())))
    assert found
    assert all(one.get("additionalProperties") is False for one in found)


def under(conditions: dict[str, bool], text: list[str]) -> list[str]:
    """What Helm makes of such a text."""
    shown, stack = [], [True]
    for line in "\n".join(text).splitlines():
        asked = re.fullmatch(r"{{- (?:if (not )?\(?(\w+)\)?|(else)|(end)) }}", line)
        if asked is None:
            if all(stack):
                shown.append(line)
        elif asked[2]:
            stack.append(conditions[asked[2]] is (asked[1] is None))
        elif asked[3]:
            stack[-1] = not stack[-1]
        else:
            stack.pop()
    assert stack == [True]
    return shown


def test_each_variant_is_rendered_under_its_conditions() -> None:
    choose = random.Random(1)
    conditions = ["a", "b", "c"]
    for _ in range(200):
        lines = [f"line {choose.randrange(6)}" for _ in range(choose.randrange(8))]
        variants = [[one for one in lines if choose.random() < 0.7] for _ in range(8)]
        text = merged(variants, conditions)
        combinations = itertools.product((False, True), repeat=3)
        for variant, chosen in zip(variants, combinations, strict=True):
            assert under(dict(zip(conditions, chosen, strict=True)), text) == variant


def test_what_variants_share_stands_there_once() -> None:
    assert merged([["a", "b"], ["a", "c", "b"]], ["x"]) == ["a", "{{- if x }}\nc\n{{- end }}", "b"]


def leaves(model: BaseModel, path: str = "") -> Iterator[tuple[str, Any]]:
    for name in type(model).model_fields:
        value = getattr(model, name)
        if isinstance(value, BaseModel):
            yield from leaves(value, f"{path}{name}.")
        else:
            yield f"{path}{name}", value


def others(path: str, value: Any) -> list[Any]:
    """Other values of a setting."""
    if path == "vendors":
        return [(VendorRow(name="x", prefix="x.example", type="x"),)]
    if isinstance(value, bool):
        return [not value]
    if isinstance(value, Enum):
        return list(type(value))
    if isinstance(value, tuple):
        return [(), ("example.com/other",)]
    if isinstance(value, int | float):
        return [value + 1]
    if path == "scheduler":
        return ["volcano"]
    return ["other", "https://other.example"]


def test_every_setting_that_changes_what_is_rendered_is_known() -> None:
    """Else a release would get something else than `cardquota manifests` prints."""
    usual = Settings.model_construct()
    everything = with_values(usual, {"scheduler": "volcano", "extender.enabled": True})
    bases = [(base, shown(base)) for base in (usual, everything)]
    found = {
        path
        for (base, before), (path, value) in itertools.product(bases, leaves(usual))
        for other in others(path, value)
        if shown(with_values(base, {path: other})) != before
    }
    assert found <= KNOWN | set(FIXED)
    assert {"webhook.gate", "scale.autoscalers", "extender.weight", "vendors"} <= found


def shown(settings: Settings) -> tuple[Any, Any]:
    """What is rendered: of the scheduler's configuration what it is made of, as YAML takes long."""
    name = settings.extender.scheduler_name
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("cardquota.install.scheduler_configuration.text", lambda found, **_: found)
        return documents(settings), scheduler_text(settings, profile=name)


def test_it_asks_for_the_oldest_kubernetes_that_is_supported() -> None:
    chart = yaml.safe_load((CHECKOUT / "charts" / "cardquota" / "Chart.yaml").read_text())
    assert chart["kubeVersion"] == f">={OLDEST}.0-0"

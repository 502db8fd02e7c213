"""The generated pages of settings, keys and metrics have all that the product declares."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from pydantic import BaseModel

from cardquota.metrics import Metrics
from cardquota.quota import limits, vocabulary
from cardquota.settings import Settings
from cardquota_dev.reference import reference_page, settings_page
from cardquota_dev.reference.__main__ import FOLDER, main

KEY = re.compile(r"([a-z0-9.]+/[A-Za-z._-]+|ALIYUN_\w+)")


def first_cells(text: str) -> list[str]:
    return re.findall(r"^\| `([^`]+)` \|", text, re.MULTILINE)


def settings(model: BaseModel, prefix: str = "") -> Iterator[str]:
    for name, field in type(model).model_fields.items():
        key, value = prefix + (field.alias or name), getattr(model, name)
        yield from settings(value, f"{key}.") if isinstance(value, BaseModel) else (key,)


def test_the_committed_pages_are_up_to_date() -> None:
    for name, made in (("settings", settings_page), ("reference", reference_page)):
        assert (FOLDER / f"{name}.md").read_text() == made.page(), "run make crds"


def test_every_setting_has_a_row() -> None:
    written = settings_page.page().partition("\n## ")[0]
    assert first_cells(written) == list(settings(Settings.model_construct()))


def test_a_row_says_default_values_and_meaning() -> None:
    rows = settings_page.page().splitlines()
    assert (
        "| `webhook.certificates` | `own` | `own`, `secret` | Who writes that Secret. `own`: the "
        "operator creates and rotates it. `secret`: cert-manager or a person does, and the "
        "operator never writes it. |"
    ) in rows
    for key, values in {
        "webhook.timeoutSeconds": "1 to 30",
        "leaderElection.duration": "above 0 to 86400",
        "probes.port": "1 to 65535",
        "scale.autoscalers": "list, at most 100",
    }.items():
        (row,) = [row for row in rows if row.startswith(f"| `{key}` |")]
        assert row.split(" | ")[2] == values


def test_every_metric_has_a_row_with_its_labels() -> None:
    page = reference_page.page()
    found = [one.name for one in Metrics().registry.collect()]
    assert found
    assert sorted(name.removesuffix("_total") for name in first_cells(page) if "/" not in name) == (
        sorted([*found, *(value for value in vars(vocabulary).values() if is_a_memory_key(value))])
    )
    row = "| `cardquota_queue_card_reserved` | gauge | `queue`, `namespace`, `card` | "
    assert row in page
    assert "| `cardquota_admission_reviews_total` | counter | `kind`, `decision` | " in page
    assert "| `cardquota_extender_seconds` | histogram | `verb` | " in page


def is_a_memory_key(value: object) -> bool:
    return isinstance(value, str) and value.startswith("ALIYUN_")


def test_every_key_has_a_row() -> None:
    no_keys = {vocabulary.GPU_MEMORY, vocabulary.GPU_COUNT, vocabulary.WOKEN_CONDITION}
    keys = [
        value
        for name, value in vars(vocabulary).items()
        if name.isupper() and isinstance(value, str) and KEY.fullmatch(value)
    ]
    said = first_cells(reference_page.page().partition("## Limits")[0])
    assert said == [key for key in keys if key not in no_keys]


def test_every_limit_has_a_row_with_its_unit() -> None:
    page = reference_page.page().partition("## Limits")[2].partition("## Metrics")[0]
    every = [one for one in vars(limits).values() if isinstance(one, limits.Limit)]
    found = re.findall(r"^\| ([^*|]+) \| (\d[^|]*) \|", page, re.MULTILINE)
    assert [what for what, _ in found] == [one.what for one in every]
    amounts = dict(found)
    assert amounts["containers"] == "64"
    assert amounts["the name of a resource"] == "317 bytes"
    assert amounts["the object"] == "512 KiB"
    assert amounts["the pods that wait"] == "96 MiB"


def test_check_says_what_is_stale_and_writes_nothing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = f"--folder={tmp_path}"
    assert main(["--check", folder]) == 1
    assert list(tmp_path.iterdir()) == []
    assert main([folder]) == 0
    assert main(["--check", folder]) == 0
    file = tmp_path / "settings.md"
    file.write_text(file.read_text().replace("Lease", "lease"))
    capsys.readouterr()
    assert main(["--check", folder]) == 1
    said = f"{file} is not what the product declares: run make crds\n"
    assert capsys.readouterr().err == said

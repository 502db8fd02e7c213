"""The generated pages of settings, keys and metrics have all that the product declares."""

import re
from collections.abc import Iterator

from pydantic import BaseModel

from cardquota.metrics import Metrics
from cardquota.quota import limits, vocabulary
from cardquota.settings import Settings
from cardquota_dev.reference import reference_page, settings_page

KEY = re.compile(r"([a-z0-9.]+/[A-Za-z._-]+|ALIYUN_\w+)")


def first_cells(text: str) -> list[str]:
    return re.findall(r"^\| `([^`]+)` \|", text, re.MULTILINE)


def settings(model: BaseModel, prefix: str = "") -> Iterator[str]:
    for name, field in type(model).model_fields.items():
        key, value = prefix + (field.alias or name), getattr(model, name)
        yield from settings(value, f"{key}.") if isinstance(value, BaseModel) else (key,)


def test_every_setting_has_a_row() -> None:
    written = settings_page.page().partition("\n## ")[0]
    assert first_cells(written) == list(settings(Settings.model_construct()))


def test_every_metric_has_a_row_with_its_labels() -> None:
    page = reference_page.page()
    found = [one.name for one in Metrics().registry.collect()]
    assert found
    memory = (str(one) for one in vars(vocabulary).values() if str(one).startswith("ALIYUN_"))
    rows = [name.removesuffix("_total") for name in first_cells(page) if "/" not in name]
    assert sorted(rows) == sorted([*found, *memory])
    row = "| `cardquota_queue_card_reserved` | gauge | `queue`, `namespace`, `card` | "
    assert row in page
    assert "| `cardquota_admission_reviews_total` | counter | `kind`, `decision` | " in page
    assert "| `cardquota_extender_seconds` | histogram | `verb` | " in page


def test_every_key_has_a_row() -> None:
    no_keys = {vocabulary.GPU_MEMORY, vocabulary.GPU_COUNT, vocabulary.SLOT}
    no_keys.add(vocabulary.WOKEN_CONDITION)
    texts = {name: one for name, one in vars(vocabulary).items() if isinstance(one, str)}
    keys = [one for name, one in texts.items() if name.isupper() and KEY.fullmatch(one)]
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

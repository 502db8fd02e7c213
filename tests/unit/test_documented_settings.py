"""docs/install.md names every setting, and no other."""

import re
from collections.abc import Iterator
from pathlib import Path

from pydantic import BaseModel

from cardquota.settings import Settings

DOCUMENT = Path(__file__).parents[2] / "docs" / "install.md"
ROW = re.compile(r"^\| `([\w.]+)` \|", re.MULTILINE)


def keys(model: BaseModel, prefix: str = "") -> Iterator[str]:
    for name, field in type(model).model_fields.items():
        key, value = prefix + (field.alias or name), getattr(model, name)
        if isinstance(value, BaseModel):
            yield from keys(value, f"{key}.")
        else:
            yield key


def section() -> str:
    return DOCUMENT.read_text().partition("## Configuration")[2].partition("\n### ")[0]


def test_every_setting_is_documented() -> None:
    assert ROW.findall(section()) == list(keys(Settings()))


def test_every_row_has_all_columns() -> None:
    rows = [line for line in section().splitlines() if line.startswith("|")]
    assert [row for row in rows if len(re.findall(r"(?<!\\)\|", row)) != 5] == []

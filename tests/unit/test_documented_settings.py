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


def test_every_setting_is_documented() -> None:
    text = DOCUMENT.read_text().partition("## Configuration")[2].partition("\n### ")[0]
    assert ROW.findall(text) == list(keys(Settings()))

"""A YAML file that is read into a pydantic model, and what is wrong with it in one line."""

from pathlib import Path
from typing import Final, TypeVar

import yaml
from pydantic import BaseModel, ValidationError

from cardquota.setting_problem import setting_problem

LONGEST: Final = 1024 * 1024
"""Bytes of a file."""
_NOT_YAML: Final = (
    *(yaml.YAMLError, UnicodeDecodeError, RecursionError),
    *(ValueError, TypeError, AttributeError, LookupError),
)
"""What the library raises; the second row where a value is not what its form or its tag says."""
_Model = TypeVar("_Model", bound=BaseModel)


class YamlFileError(Exception):
    """The file cannot be used; the text names it, the key and what is wrong with it."""


def read_yaml(path: Path, model: type[_Model]) -> _Model:
    """An empty file has no keys. Raises YamlFileError."""
    stored = load_yaml(path)
    try:
        return model.model_validate({} if stored is None else stored)
    except ValidationError as error:
        problems = map(setting_problem, error.errors())
        raise YamlFileError(f"{path}: " + "; ".join(problems)) from None


def load_yaml(path: Path) -> object:
    """What stands in the file, as plain data. Raises YamlFileError."""
    try:
        with path.open("rb") as file:
            text = file.read(LONGEST + 1)
    except OSError as error:
        raise YamlFileError(f"{path}: cannot be read: {error.strerror}") from None
    if len(text) > LONGEST:
        raise YamlFileError(f"{path}: has more than <{LONGEST}> bytes")
    try:
        return yaml.safe_load(text)
    except _NOT_YAML as error:
        raise YamlFileError(f"{path}: is not YAML: {' '.join(str(error).split())}") from None

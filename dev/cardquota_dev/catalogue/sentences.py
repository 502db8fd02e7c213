"""The sentences of the product: public functions and constants of the files below `messages`."""

import inspect
from collections.abc import Iterator
from importlib import import_module
from pkgutil import walk_packages
from types import ModuleType

from cardquota.quota import messages


def modules() -> list[ModuleType]:
    """The files with whole sentences; others have parts of them."""
    found = walk_packages(messages.__path__, prefix=f"{messages.__name__}.")
    return [import_module(one.name) for one in found if one.name.endswith("_messages")]


def sentences() -> Iterator[tuple[str, object]]:
    """Each by its name."""
    for module in modules():
        for name, value in vars(module).items():
            ours = inspect.isfunction(value) and value.__module__ == module.__name__
            if not name.startswith("_") and (ours or isinstance(value, str)):
                yield name, value

"""The sentences of the product: public functions and constants of the files in `messages`."""

import inspect
from collections.abc import Iterator
from importlib import import_module
from pkgutil import iter_modules
from types import ModuleType

from cardquota.quota import messages


def modules() -> list[ModuleType]:
    """The files with whole sentences; others have parts of them."""
    names = [one.name for one in iter_modules(messages.__path__) if one.name.endswith("_messages")]
    return [import_module(f"{messages.__name__}.{name}") for name in names]


def sentences() -> Iterator[tuple[str, object]]:
    """Each by its name."""
    for module in modules():
        for name, value in vars(module).items():
            ours = inspect.isfunction(value) and value.__module__ == module.__name__
            if not name.startswith("_") and (ours or isinstance(value, str)):
                yield name, value

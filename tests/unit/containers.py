"""The size of every container that can be reached from an object: one added later is found too."""

from collections import Counter, OrderedDict, deque
from collections.abc import Iterable, Iterator, Mapping
from types import FunctionType, ModuleType
from typing import Any

from cardquota.quota import SizedCache

_CONTAINERS = (dict, set, list, deque, OrderedDict, Counter)


def containers(*roots: object) -> dict[str, int]:
    """Path and size of every container that can be reached from the roots.

    Keys and elements are not followed by name but all together, as `[]`: their sizes add up, so a
    thing left behind inside a thing shows too.
    """
    found: dict[str, int] = {}
    seen: set[int] = set()
    for root in roots:
        _measure(root, type(root).__name__, found, seen)
    return found


def _measure(thing: object, path: str, found: dict[str, int], seen: set[int]) -> None:
    if id(thing) in seen or isinstance(thing, str | bytes | int | float | type | ModuleType | None):
        return
    seen.add(id(thing))
    if isinstance(thing, SizedCache):
        return  # bounded by itself, in bytes
    if isinstance(thing, _CONTAINERS):
        found[path] = found.get(path, 0) + len(thing)
        for inner in _elements(thing):
            _measure(inner, f"{path}[]", found, seen)
    elif isinstance(thing, tuple):
        for inner in thing:
            _measure(inner, path, found, seen)
    elif isinstance(thing, FunctionType):
        for cell in thing.__closure__ or ():
            _measure(cell.cell_contents, f"{path}()", found, seen)
    elif _is_ours(thing):
        for name, value in _fields(thing):
            _measure(value, f"{path}.{name}", found, seen)


def _elements(container: Any) -> Iterator[object]:
    yield from list(container)
    if isinstance(container, dict):
        yield from list(container.values())


def _is_ours(thing: object) -> bool:
    return type(thing).__module__.startswith(("cardquota.", "cardquota_webhooks."))


def _fields(thing: object) -> Iterator[tuple[str, object]]:
    """Of `__dict__` and of the `__slots__` of all its classes."""
    yield from vars(thing).items() if hasattr(thing, "__dict__") else ()
    for kind in type(thing).__mro__:
        slots = kind.__dict__.get("__slots__", ())
        for name in (slots,) if isinstance(slots, str) else slots:
            if name not in ("__dict__", "__weakref__") and hasattr(thing, name):
                yield name, getattr(thing, name)


def assert_nothing_grew(
    before: Mapping[str, int], after: Mapping[str, int], *, but: Iterable[str] = ()
) -> None:
    grown = {path: (before.get(path, 0), n) for path, n in after.items() if n > before.get(path, 0)}
    for path in but:
        grown.pop(path, None)
    assert not grown, grown

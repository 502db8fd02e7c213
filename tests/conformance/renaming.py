"""Names of its own for every case, so that all cases can stand on one cluster at once.

Whatever a case names gets a prefix wherever the case speaks of it: nodes, namespaces, queues and
products in annotations, labels and expected sentences too; the names of pods, groups and
workloads where they stand alone, or in a sentence behind one of `_BEFORE_NAMES`. Only the namespace
`lab` is shared by all cases that say nothing of it: namespaces are dear.
"""

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from cardquota.quota.cards import model_of

from .short_forms import IN_NAMESPACE, KEYS, SHARED_NAMESPACE, USUAL_NAMESPACE

_PLAIN = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]*")
_BEFORE_NAMES = "|".join(rf"(?<={before})" for before in ("/", "mean <", "held by ", ", "))
_WORDS = frozenset(KEYS) | frozenset().union(*KEYS.values())


def renamed(case: Mapping[str, Any], prefix: str) -> Any:
    """The case with its own names."""
    rows = [*case.get("given", ()), *case.get("pods", ())]
    rows += [row for stage in case.get("then", ()) for row in stage.get("change", ())]
    names, alone = set(_names(rows)), set(_names_inside(rows))
    if taken := _WORDS & (names | alone):
        raise ValueError(f"a word of the short forms is no name: {taken}")
    new = {name: f"{prefix}-{name}" for name in names}
    new.setdefault(USUAL_NAMESPACE, SHARED_NAMESPACE)
    anywhere = re.compile(rf"(?<![\w.-])({_any_of(new)})(?![\w-])")
    inside = re.compile(rf"({_BEFORE_NAMES})({_any_of(alone)})(?=[>,)]| \d)")

    def replaced(text: str) -> str:
        if text in alone:
            return f"{prefix}-{text}"
        text = anywhere.sub(lambda found: new[found[1]], text)
        return inside.sub(rf"{prefix}-\2", text) if alone else text

    return _replaced(case, replaced)


def _any_of(names: Iterable[str]) -> str:
    return "|".join(map(re.escape, sorted(names, key=len, reverse=True)))


def _names_inside(rows: Iterable[Mapping[str, Any]]) -> Iterator[str]:
    """Names within a namespace."""
    for row in rows:
        if "object" in row:
            yield row["object"]["metadata"]["name"]
        yield from (row[kind] for kind in (*IN_NAMESPACE, "group") if kind in row)


def _names(rows: Iterable[Mapping[str, Any]]) -> Iterator[str]:
    for row in rows:
        yield from (row[key] for key in ("node", "queue", "namespace") if key in row)
        yield from (n for n in _products(row) if _PLAIN.fullmatch(n) and n not in _WORDS)


def _products(row: Mapping[str, Any]) -> Iterator[str]:
    if "product" in row:
        yield str(row["product"])
    quota = row.get("quota", {})
    yield from map(model_of, _keys(quota) if isinstance(quota, str) else quota)
    for name in str(row.get("card", "")).split("|"):
        yield model_of(name.strip())


def _keys(text: str) -> list[str]:
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return []
    return list(found) if isinstance(found, dict) else []


def _replaced(thing: Any, name: Any) -> Any:
    match thing:
        case str():
            return name(thing)
        case Mapping():
            return {name(key): _replaced(value, name) for key, value in thing.items()}
        case list():
            return [_replaced(value, name) for value in thing]
    return thing

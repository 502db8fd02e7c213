"""Names of its own for every case, so that all cases can stand on one cluster at once.

Whatever a case gives a name of the whole cluster, its nodes, namespaces, queues and products, gets
a prefix, wherever the case speaks of it: in annotations, labels and expected sentences too.
"""

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from cardquota.quota.card import model_of

from .short_forms import KEYS, USUAL_NAMESPACE

_PLAIN = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]*")
_WORDS = frozenset(KEYS) | frozenset().union(*KEYS.values())


def renamed(case: Mapping[str, Any], prefix: str) -> Any:
    """The case with its own names."""
    rows = [*case.get("given", ()), *case.get("pods", ())]
    rows += [row for stage in case.get("then", ()) for row in stage.get("change", ())]
    names = sorted({USUAL_NAMESPACE, *_names(rows)}, key=len, reverse=True)
    if taken := _WORDS.intersection(names):
        raise ValueError(f"a word of the short forms is no name: {taken}")
    pattern = re.compile(rf"(?<![\w.-])({'|'.join(map(re.escape, names))})(?![\w-])")
    return _replaced(case, lambda text: pattern.sub(rf"{prefix}-\1", text))


def _names(rows: Iterable[Mapping[str, Any]]) -> Iterator[str]:
    for row in rows:
        for key in ("node", "queue", "namespace"):
            if key in row:
                yield row[key]
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

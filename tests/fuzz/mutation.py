"""From a valid object to one that is not quite: in its structure, its values, or its bytes."""

import json
from collections.abc import Iterator
from random import Random
from typing import Any, Final

from cardquota.quota import vocabulary as v

from . import values

Path = tuple[Any, ...]

_TEXTS: Final = {
    v.CARD_NAME: values.card_text,
    v.CARD_NAME_ALIAS: values.card_text,
    v.QUOTA: values.object_text,
    v.REQUEST: values.request_text,
    v.ALLOCATED: values.object_text,
    v.RESERVATION: values.object_text,
    v.NAMESPACES: values.namespaces_text,
    v.POLICY: values.word,
    v.QUEUE_STATE: values.word,
    v.QUEUE_NAME: values.word,
    v.QUEUE_NAME_VOLCANO_JOB: values.word,
    v.GROUP_NAME: values.word,
    v.CHARGED_QUEUE: values.word,
    v.TERM: values.word,
}
KEPT: Final = frozenset({("metadata", "resourceVersion")})
"""What the API server alone writes and always right: a later revision would hide all others."""


def mutated(chance: Random, body: dict[str, Any], others: list[dict[str, Any]]) -> dict[str, Any]:
    """One to five changes; `others` lend their parts. Changes and returns `body`."""
    for _ in range(chance.choice((1, 1, 1, 2, 3, 5))):
        if chance.random() < 0.3:
            _annotate(chance, body)
            continue
        paths = [path for path in _paths(body) if path not in KEPT]
        if paths:
            _change(chance, body, chance.choice(paths), others)
    return body


def enlarged(chance: Random, body: dict[str, Any], size: int) -> dict[str, Any]:
    """Some part of it of so many characters."""
    if chance.random() < 0.3:
        notes = body.setdefault("metadata", {}).setdefault("annotations", {})
        notes[chance.choice(list(_TEXTS))] = str(values.large(chance, size))[:size]
        return body
    paths = [path for path in _paths(body) if path not in KEPT]
    path = chance.choice(paths)
    inner, key = _at(body, path)
    found = inner[key]
    if isinstance(found, list) and found:
        inner[key] = found * min(60_000, max(2, size // max(1, len(json.dumps(found)))))
    else:
        inner[key] = values.large(chance, size)
    return body


def broken(chance: Random, text: bytes) -> bytes:
    """Bytes changed, cut, inserted or doubled, without regard to what they mean."""
    found = bytearray(text)
    for _ in range(chance.choice((1, 1, 2, 5))):
        at = chance.randrange(len(found) + 1)
        till = min(len(found), at + chance.choice((1, 1, 2, 8, 60)))
        match chance.randrange(5):
            case 0:
                found[at:till] = bytes(chance.randrange(256) for _ in range(till - at))
            case 1:
                del found[at:till]
            case 2:
                found[at:at] = found[at:till] * chance.choice((1, 3, 40))
            case 3:
                found[at:at] = chance.choice((b"\xff", b"\x00", b"\xed\xa0\x80", b'"', b"{", b"}}"))
            case _:
                found[at:at] = chance.choice(
                    (b"\\ud800", b"[" * 3_000, b"1e999", b"null", b"-", b",")
                )
    return bytes(found)


def _annotate(chance: Random, body: dict[str, Any]) -> None:
    meta = body.get("metadata")
    if not isinstance(meta, dict):
        return
    notes = meta.get("annotations")
    if not isinstance(notes, dict):
        notes = meta["annotations"] = {}
    key = chance.choice(list(_TEXTS))
    notes[key] = _TEXTS[key](chance) if chance.random() < 0.8 else values.anything(chance)
    if chance.random() < 0.5:  # beside it a charge is read
        meta["labels"] = {v.MANAGED: v.IS_MANAGED}


def _change(chance: Random, body: Any, path: Path, others: list[dict[str, Any]]) -> None:
    inner, key = _at(body, path)
    match chance.randrange(8):
        case 0:
            del inner[key]
        case 1 if isinstance(inner[key], list):
            inner[key] = inner[key] * chance.choice((2, 10, 200))
        case 2 if isinstance(inner, dict):
            inner[values.word(chance)] = inner.pop(key)
        case 3:
            other = chance.choice(others)
            found, name = _at(other, chance.choice(list(_paths(other))))
            inner[key] = found[name]
        case 4:
            inner[key] = chance.choice(values.QUANTITIES)
        case _:
            inner[key] = values.anything(chance)


def _paths(thing: Any, path: Path = ()) -> Iterator[Path]:
    """Of everything in it, at most so deep and so wide that it takes no time."""
    if len(path) > 12:
        return
    parts: list[tuple[Any, Any]] = []
    if isinstance(thing, dict):
        parts = list(thing.items())[:60]
    elif isinstance(thing, list):
        parts = list(enumerate(thing[:20]))
    for key, inner in parts:
        yield (*path, key)
        yield from _paths(inner, (*path, key))


def _at(thing: Any, path: Path) -> tuple[Any, Any]:
    """What holds the value at a path, and its key there."""
    for key in path[:-1]:
        thing = thing[key]
    return thing, path[-1]

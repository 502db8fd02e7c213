"""Sentences of the table, in which `…` stands for any text."""

import re
from collections.abc import Mapping, Sequence
from typing import Any

ANYTHING = "…"


def says(sentence: str, expected: str) -> bool:
    """Whether a sentence is the expected one, word for word but for what `…` stands for."""
    pattern = ".*".join(re.escape(part.strip()) for part in expected.split(ANYTHING))
    return re.fullmatch(pattern.replace(".*", r"\s?.*"), sentence) is not None


def says_each(sentences: Sequence[str], expected: Sequence[str]) -> bool:
    """Whether there are as many as expected, each of them the expected one."""
    pairs = zip(sentences, expected, strict=False)
    return len(sentences) == len(expected) and all(says(*pair) for pair in pairs)


def holds(found: Any, expected: Any) -> bool:
    """Whether an object has all fields that are expected of it, and as many elements in its lists;
    other fields are of no interest.
    """
    match expected:
        case str():
            return says(str(found or ""), expected)
        case Mapping():
            there = found if isinstance(found, Mapping) else {}
            return all(holds(there.get(key), value) for key, value in expected.items())
        case list():
            rows = list(found or ())
            return len(rows) == len(expected) and all(map(holds, rows, expected))
    return bool(found == expected) or (not found and not expected)

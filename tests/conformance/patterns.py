"""Sentences of the table, in which `…` stands for any text."""

import re

ANYTHING = "…"


def says(sentence: str, expected: str) -> bool:
    """Whether a sentence is the expected one, word for word but for what `…` stands for."""
    pattern = ".*".join(re.escape(part.strip()) for part in expected.split(ANYTHING))
    return re.fullmatch(pattern.replace(".*", r"\s?.*"), sentence) is not None

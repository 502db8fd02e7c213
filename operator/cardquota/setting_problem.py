"""What is wrong with a setting, or with an option of the command line, in plain words: pydantic's
own are made for programmers.
"""

import re
from collections.abc import Mapping
from typing import Any, Final

_WORDS: Final = (
    (re.compile(r"^Value error, "), ""),
    (re.compile(r"^Extra inputs are not permitted$"), "there is no such setting"),
    (re.compile(r"^Field required$"), "is missing"),
    (re.compile(r", unable to (?:parse|interpret).*$"), ""),
    (re.compile(r", got a number with a fractional part$"), ""),
    (re.compile(r"^Input should be a valid (?:dictionary|mapping)\b.*$"), "must be a mapping"),
    (re.compile(r"^Input should be a valid (?:list|tuple|set)$"), "must be a list"),
    (re.compile(r"^Input should be a valid string$"), "must be text (put it in quotes)"),
    (re.compile(r"^Input should be a valid integer$"), "must be a whole number"),
    (re.compile(r"^Input should be a valid number$"), "must be a number"),
    (re.compile(r"^Input should be a valid boolean$"), "must be true or false"),
    (re.compile(r"^String should match pattern "), "must match the pattern "),
    (re.compile(r"^(?:Input|String|Value|List|Tuple|Dictionary) should "), "must "),
)


def plain_problem(text: str) -> str:
    """One of its messages in plain words; any other text as it is."""
    for pattern, words in _WORDS:
        text = pattern.sub(words, text)
    return text


def setting_problem(error: Mapping[str, Any]) -> str:
    """One entry of `ValidationError.errors()`: the key as it is written in the file, and what is
    wrong with it.
    """
    where = ".".join(map(str, error["loc"])) or "settings"
    return f"{where}: {plain_problem(str(error['msg']))}"

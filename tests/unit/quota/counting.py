"""How often something is done."""

import re
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from types import FrameType

import cardquota


class Calls(Counter[str]):
    """Calls of functions, by name. Raises LookupError for a name that no function of the product
    has any more: after a renaming a test would count nothing, and pass.
    """

    def __missing__(self, name: str) -> int:
        if name not in _functions():
            raise LookupError(f"the product has no function {name}")
        return 0


@contextmanager
def counted_calls() -> Iterator[Calls]:
    """What is called meanwhile, in this thread."""
    calls = Calls()

    def look(frame: FrameType, what: str, _: object) -> None:
        if what == "call":
            name = frame.f_code.co_name
            calls[name] = calls.get(name, 0) + 1

    sys.setprofile(look)
    try:
        yield calls
    finally:
        sys.setprofile(None)


@cache
def _functions() -> frozenset[str]:
    defined = re.compile(r"^ *def (\w+)\(", re.MULTILINE)
    files = Path(cardquota.__file__).parent.rglob("*.py")
    return frozenset(name for file in files for name in defined.findall(file.read_text()))

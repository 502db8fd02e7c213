"""How often something is done, and how much work it is."""

import re
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from types import FrameType
from typing import Any

import cardquota


class CallCounts(Counter[str]):
    """Calls of functions, by name. Raises LookupError for a name that no function of the product
    has any more: after a renaming a test would count nothing, and pass.
    """

    def __missing__(self, name: str) -> int:
        if name not in _functions():
            raise LookupError(f"the product has no function {name}")
        return 0


@contextmanager
def counted_calls() -> Iterator[CallCounts]:
    """What is called meanwhile, in this thread."""
    calls = CallCounts()

    def look(frame: FrameType, what: str, _: object) -> None:
        if what == "call":
            name = frame.f_code.co_name
            calls[name] = calls.get(name, 0) + 1

    sys.setprofile(look)
    try:
        yield calls
    finally:
        sys.setprofile(None)


def steps_of(do: Callable[[], object]) -> int:
    """How many instructions of the interpreter it runs: neither clock nor machine changes that."""
    number = 0

    def look(frame: FrameType, what: str, _: object) -> Any:
        nonlocal number
        frame.f_trace_opcodes = True
        number += what == "opcode"
        return look

    before = sys.gettrace()
    sys.settrace(look)
    try:
        do()
    finally:
        sys.settrace(before)
    return number


@cache
def _functions() -> frozenset[str]:
    defined = re.compile(r"^ *def (\w+)\(", re.MULTILINE)
    files = Path(cardquota.__file__).parent.rglob("*.py")
    return frozenset(name for file in files for name in defined.findall(file.read_text()))

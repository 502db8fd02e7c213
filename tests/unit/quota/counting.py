"""How often something is done."""

import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType


@contextmanager
def counted_calls() -> Iterator[Counter[str]]:
    """Of functions of the product, by name."""
    calls = Counter[str]()

    def look(frame: FrameType, what: str, _: object) -> None:
        if what == "call":
            calls[frame.f_code.co_name] += 1

    sys.setprofile(look)
    try:
        yield calls
    finally:
        sys.setprofile(None)

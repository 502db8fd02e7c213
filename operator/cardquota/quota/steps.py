"""Work in short steps, for whoever has others to let run in between."""

from collections.abc import Generator
from typing import TypeVar

T = TypeVar("T")
Steps = Generator[None, None, T]
"""To be iterated over to its end; what it returns is what comes of it."""


def to_its_end(steps: Steps[T]) -> T:
    """What comes of it, in one go."""
    while True:
        try:
            next(steps)
        except StopIteration as end:
            found: T = end.value
            return found

"""Calls that come after a while, in the loop; a test has its own time."""

import asyncio
from collections.abc import Callable
from typing import Protocol


class Timer(Protocol):
    """Something that will be called, if it is not cancelled before."""

    def cancel(self) -> None:
        """Do not call it."""


Later = Callable[[float, Callable[[], None]], Timer]
"""Calls something after a number of seconds."""


def in_loop_later(seconds: float, call: Callable[[], None]) -> Timer:
    """By the running loop's own clock."""
    return asyncio.get_running_loop().call_later(seconds, call)

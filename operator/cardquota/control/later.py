"""Delayed calls in the event loop. Tests pass their own time."""

import asyncio
from collections.abc import Callable
from typing import Protocol


class Timer(Protocol):
    """A call that is still to come, unless it is cancelled."""

    def cancel(self) -> None:
        """Cancel the call."""


Later = Callable[[float, Callable[[], None]], Timer]
"""Calls a function after a number of seconds."""


def in_loop_later(seconds: float, call: Callable[[], None]) -> Timer:
    """By the running loop's own clock."""
    return asyncio.get_running_loop().call_later(seconds, call)

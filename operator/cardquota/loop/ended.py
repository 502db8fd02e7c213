"""The end of tasks, for certain.

A cancellation can get lost: a library that cancels a task at its own time-out may take ours for its
own, if both come at once, as when a process goes on after a pause. Then the task goes on, and who
waits for its end waits for ever.
"""

import asyncio
from collections.abc import Iterable
from typing import Any, Final

_AGAIN: Final = 0.5
"""Seconds after which a task that has not ended is cancelled again. Longer than an end takes, for
a task that tidies up would be disturbed in it."""


async def ended(tasks: Iterable[asyncio.Task[Any]]) -> None:
    """Cancel tasks, again and again, and return once all have ended. Their errors are dropped.

    Not guaranteed: that this returns, if a task ignores every cancellation.
    """
    left = set(tasks)
    while left:
        for task in left:
            task.cancel()
        _, left = await asyncio.wait(left, timeout=_AGAIN)

"""The end of tasks, for certain.

A cancellation can get lost: a library that cancels a task at its own time-out may take ours for its
own, if both come at once, as when a process goes on after a pause. Then the task goes on, and who
waits for its end waits for ever.
"""

import asyncio
from collections.abc import Iterable
from typing import Any, Final

_AGAIN: Final = 10.0
"""Seconds after which a task that has not ended is cancelled again. Twice what any of ours takes to
tidy up, in which it must not be disturbed."""


async def ended(tasks: Iterable[asyncio.Task[Any]]) -> None:
    """Cancel tasks, again and again, and return once all have ended. Their errors are dropped.

    If this is cancelled, it goes on until then all the same. Not guaranteed: that this returns, if
    a task ignores every cancellation.
    """
    tasks = set(tasks)
    left, cancelled = tasks, False
    while left:
        for task in left:
            task.cancel()
        again = asyncio.get_running_loop().time() + _AGAIN
        while left and (wait := again - asyncio.get_running_loop().time()) > 0:
            try:
                _, left = await asyncio.wait(left, timeout=wait)
            except asyncio.CancelledError:
                cancelled = True
                left = {task for task in left if not task.done()}
    for task in tasks:
        if not task.cancelled():
            task.exception()  # or asyncio complains that nobody has asked for it
    if cancelled:
        raise asyncio.CancelledError

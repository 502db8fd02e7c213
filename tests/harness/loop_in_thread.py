"""An event loop in a thread of its own, for tests that have none, and its orderly end."""

import asyncio
import selectors
import threading
from collections.abc import Iterator
from contextlib import contextmanager

_PATIENCE = 10.0
"""Seconds that tasks have to end when they are cancelled."""


@contextmanager
def loop_in_thread() -> Iterator[asyncio.AbstractEventLoop]:
    """At its end all tasks are cancelled and waited for, and what they closed is closed.

    Else their sockets would be found open when they are collected: in the middle of another test,
    which would fail for it.
    """
    selector = selectors.DefaultSelector()
    loop = asyncio.SelectorEventLoop(selector)
    thread = threading.Thread(target=loop.run_forever)
    thread.start()
    try:
        yield loop
    finally:
        try:
            asyncio.run_coroutine_threadsafe(_wind_up(selector), loop).result(_PATIENCE)
        finally:
            loop.call_soon_threadsafe(loop.stop)
            thread.join()
            loop.close()


async def _wind_up(selector: selectors.BaseSelector) -> None:
    loop = asyncio.get_running_loop()
    tasks = asyncio.all_tasks() - {asyncio.current_task()}
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
    # A transport that was told to close does so later, of TLS after some rounds, and nobody says
    # when: until only the loop's own end of its wake-up call is left.
    watched = selector.get_map()
    deadline = loop.time() + _PATIENCE / 2
    while len(watched) > 1 and loop.time() < deadline:  # noqa: ASYNC110
        await asyncio.sleep(0.01)

"""`top --watch`: the table anew whenever a queue has changed.

Queues are watched, so a cluster where nothing changes is not listed anew.
"""

import asyncio
import gc
import logging
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from typing import Any, Final

from rich.console import Group
from rich.live import Live
from rich.text import Text

from ...cluster.api.client import Client
from ...cluster.watch.delivery import Delivery
from ...cluster.watch.reflector import Reflector
from ...control.queues.published_status import PATH
from ...quota.words import counted
from ...quota.words import show as short
from ..leader import note_unless_led
from ..output import ClusterChoice, Output
from ..printing import console, print_lines, safe
from ..reading import ClusterError, client_of, done, not_listed
from .published_queues import (
    PublishedQueue,
    PublishedQueues,
    TopQueue,
    list_queues,
    published_queue,
)
from .top import lines

PERIOD: Final = 2.0
"""Seconds between two tables, at least."""
_AGES: Final = 30.0
"""Seconds after which a terminal gets the same with newer ages."""
_LOOK_FOR_LEADER: Final = 10.0
"""Seconds between two looks at the Lease."""
_OLD: Final = 10.0
"""Seconds without a stream after which the table says that it may be old."""


_ASK: Final = 0.05
"""Seconds between two looks whether the watch is there."""
_FORBIDDEN: Final = (401, 403)
"""What waiting does not change. Of a kind that was just created others are given for a second."""
_LONGEST_NOTE: Final = 400


class WatchedQueues:
    """The sink of a reflector: all queues, by name."""

    def __init__(self) -> None:
        self._queues: dict[str, PublishedQueue] = {}
        self._unreadable: dict[str, str] = {}
        self.changed = False
        """Whether anything of it changed since that was last set to False."""

    def seen(self, queue: TopQueue) -> None:
        """A queue was added or changed."""
        name, found = queue.metadata.name, published_queue(queue)
        self._unreadable.pop(name, None)
        self.changed = self.changed or self._queues.get(name) != found
        self._queues[name] = found

    def gone(self, namespace: str, name: str, uid: str) -> None:
        """A queue was deleted."""
        known = self._queues.pop(name, None), self._unreadable.pop(name, None)
        self.changed = self.changed or any(known)

    def undecodable(self, namespace: str, name: str, uid: str, error: str) -> None:
        """A queue has not the form of its kind."""
        self._queues.pop(name, None)
        self._unreadable[name] = f"{name}: {error}"
        self.changed = True

    def all(self) -> PublishedQueues:
        """Sorted by name."""
        queues = [self._queues[name] for name in sorted(self._queues)]
        return PublishedQueues(
            queues, [self._unreadable[name] for name in sorted(self._unreadable)]
        )


def watch_top(namespace: str, *, cluster: ClusterChoice, output: Output) -> None:
    """Ends by Ctrl-C, with exit code 0. Errors: typer.Exit, if queues cannot be listed at first.

    `namespace`: the operator's. On a terminal the table is drawn over the one before, as far as it
    fits. Elsewhere a table follows for each change, after an empty line.
    """
    gc.enable()  # this one may live for days
    live = Live(console=console(), auto_refresh=False, vertical_overflow="ellipsis")
    on_terminal = sys.stdout.isatty()
    shown: AbstractContextManager[Any] = live if on_terminal else nullcontext()

    def draw(table: list[Text]) -> None:
        shown = fitting(table, live.console.height - 1)
        for line in shown:
            line.no_wrap, line.overflow = True, "ellipsis"
        live.update(Group(*map(safe, shown)), refresh=True)

    async def followed() -> None:
        with shown, _silent_log():
            await follow(namespace, cluster, output, draw if on_terminal else _next_table())

    with suppress(KeyboardInterrupt):
        done(followed())


@contextmanager
def _silent_log() -> Iterator[None]:
    """What a watch says about its connection belongs to an operator's log."""
    log, handler = logging.getLogger("cardquota"), logging.NullHandler()
    log.addHandler(handler)
    log.propagate = False
    try:
        yield
    finally:
        log.propagate = True
        log.removeHandler(handler)


def fitting(table: list[Text], height: int) -> list[Text]:
    """As many of the lines as there is room for. The last one says how many more there are."""
    if len(table) <= height:
        return table
    shown = table[: max(0, height - 1)]
    more = counted(len(table) - len(shown), "more line")
    return [*shown, Text(f"and {more}", style="dim")]


def _next_table() -> Callable[[list[Text]], None]:
    """Prints tables one below the other."""
    first = True

    def show_next(table: list[Text]) -> None:
        nonlocal first
        print_lines(table if first else [Text(), *table])
        sys.stdout.flush()
        first = False

    return show_next


async def _until_synced(reflector: Reflector[TopQueue]) -> None:
    """Errors: ClusterError, if the API server refuses the watch."""
    while not reflector.synced:
        refused = reflector.refused
        if refused is not None and (refused.status in _FORBIDDEN or reflector.lag() > _OLD):
            raise ClusterError(not_listed("queues", str(refused), verb="watch"))
        await asyncio.sleep(_ASK)


async def follow(
    namespace: str,
    cluster: ClusterChoice,
    output: Output,
    show: Callable[[list[Text]], None],
) -> None:
    """Show tables until cancelled. Errors: AccessError, ClusterError."""
    async with client_of(cluster) as client:
        await list_queues(client)  # whoever may not is told so, and it ends
        queues = WatchedQueues()
        delivery = Delivery("queues", TopQueue, queues)
        reflector = Reflector(client, path=PATH, delivery=delivery)
        watching = asyncio.create_task(reflector.run())
        try:
            await _until_synced(reflector)
            await _show_changes(client, namespace, reflector, queues, output, show)
        finally:
            watching.cancel()
            await asyncio.gather(watching, return_exceptions=True)


async def _show_changes(
    client: Client,
    namespace: str,
    reflector: Reflector[TopQueue],
    queues: WatchedQueues,
    output: Output,
    show: Callable[[list[Text]], None],
) -> None:
    on_terminal, was_old = sys.stdout.isatty(), False
    loop = asyncio.get_running_loop()
    renew_at = look_at = loop.time()
    unled = ""
    queues.changed = True
    while True:
        if loop.time() >= look_at:
            before, unled = unled, await note_unless_led(client, namespace)
            queues.changed = queues.changed or bool(before) != bool(unled)
            look_at = loop.time() + _LOOK_FOR_LEADER
        old = reflector.late and reflector.lag() > _OLD
        ages = on_terminal and loop.time() >= renew_at
        if queues.changed or ages or old != was_old:
            queues.changed, was_old, renew_at = False, old, loop.time() + _AGES
            now = int(time.time() * 1000)
            table = list(lines(queues.all(), now, unled=unled, output=output, bars=on_terminal))
            if old:
                why = "the API server does not answer"
                if reflector.refused is not None:
                    why = not_listed("queues", str(reflector.refused), verb="watch")
                note = short(f"{why}: this table may be old", most=_LONGEST_NOTE)
                table.insert(0, Text(f"note: {note}", style="dim"))
            show(table)
        await asyncio.sleep(PERIOD)

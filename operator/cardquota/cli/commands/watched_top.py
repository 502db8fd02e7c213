"""`top --watch`: the table anew whenever a queue has changed."""

import asyncio
import gc
import sys
import time
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext, suppress
from typing import Any, Final

from rich.console import Group
from rich.live import Live
from rich.text import Text

from ...quota.words import counted
from ...quota.words import show as short
from ..leader import note_unless_led
from ..output import ClusterChoice, Output
from ..printing import console, print_lines, safe
from ..reading import ClusterError, client_of, done
from .top import lines, list_queues

PERIOD: Final = 2.0
"""Seconds between two looks at the queues."""
_AGES: Final = 30.0
"""Seconds after which a terminal gets the same with newer ages."""
_LOOK_FOR_LEADER: Final = 10.0
"""Seconds between two looks at the Lease."""
PATIENCE: Final = 10.0
"""Seconds that all queues may take, before the table says that it may be old."""
_LONGEST_NOTE: Final = 400


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
        with shown:
            await follow(namespace, cluster, output, draw if on_terminal else _next_table())

    with suppress(KeyboardInterrupt):
        done(followed())


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


async def follow(
    namespace: str,
    cluster: ClusterChoice,
    output: Output,
    show: Callable[[list[Text]], None],
) -> None:
    """Show tables until cancelled. Errors: AccessError; ClusterError, if there is no first one."""
    on_terminal, loop = sys.stdout.isatty(), asyncio.get_running_loop()
    renew_at = look_at = loop.time()
    shown, unled, old = None, "", ""
    async with client_of(cluster) as client:
        found = await list_queues(client)
        while True:
            if loop.time() >= look_at:
                unled = await note_unless_led(client, namespace)
                look_at = loop.time() + _LOOK_FOR_LEADER
            seen = found, bool(unled), bool(old)
            if seen != shown or (on_terminal and loop.time() >= renew_at):
                shown, renew_at = seen, loop.time() + _AGES
                now = int(time.time() * 1000)
                table = list(lines(found, now, unled=unled, output=output, bars=on_terminal))
                if old:
                    note = short(f"{old}: this table may be old", most=_LONGEST_NOTE)
                    table.insert(0, Text(f"note: {note}", style="dim"))
                show(table)
            await asyncio.sleep(PERIOD)
            try:
                async with asyncio.timeout(PATIENCE):
                    found, old = await list_queues(client), ""
            except TimeoutError:
                old = "the API server does not answer"
            except ClusterError as error:
                old = str(error)

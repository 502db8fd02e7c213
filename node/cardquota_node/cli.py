"""The program `cardquota-node`: its commands and their options.

A user's mistake is reported in one line on standard error, never as a traceback.
"""

import asyncio
import ctypes
import json
import logging
import signal
import sys
from collections.abc import Coroutine, Iterable
from contextlib import suppress
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Final

import typer

from cardquota.cli.command_group import CommandGroup
from cardquota.cli.output import ExitCode

from .inventory import FileInventory, Inventory, InventoryError, NoDriverError
from .listing import allocations_data, allocations_table, as_data, as_table
from .node_settings import NodeSettings, load
from .yaml_file import YamlFileError

NO_DRIVER: Final = 3
"""Exit code where the node has no driver of cards."""
_ARENA_MAX: Final = -8
_MMAP_THRESHOLD: Final = -3
_TRIM_THRESHOLD: Final = -1
"""Of mallopt(3)."""
EXIT_CODES: Final = (
    "Exit codes: 0 done; 1 failed; 2 wrong command line or configuration; 3 this node has no "
    "driver of cards; 130 interrupted; 141 the program that reads the output has ended."
)


class _Commands(CommandGroup):
    program = "cardquota-node"


app = typer.Typer(
    cls=_Commands,
    help="The cards of a node.",
    epilog=EXIT_CODES,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)


def main() -> None:
    """The program `cardquota-node`."""
    app(prog_name="cardquota-node")


Config = Annotated[
    Path | None,
    typer.Option(
        "--config",
        metavar="FILE",
        help="YAML file with settings. Settings that it leaves out keep their defaults.",
    ),
]


class Form(StrEnum):
    """How the cards are printed."""

    TEXT = "text"
    JSON = "json"


@app.callback()
def every_command() -> None:
    """What is the same for all commands: its help is the group's."""


@app.command()
def run(config: Config = None) -> None:
    """Offer this node's cards to the kubelet, and give containers theirs."""
    from .agent import run as run_agent

    try:
        settings = load(config)
        logging.basicConfig(
            level=settings.log.level.upper(), format="%(asctime)s %(levelname)s %(message)s"
        )
        _give_memory_back()
        asyncio.run(_until_told(run_agent(settings, _inventory(settings, watched=True))))
    except YamlFileError as error:
        raise _failed(error, ExitCode.NOT_UNDERSTOOD) from None
    except OSError as error:
        raise _failed(error, ExitCode.FAILED) from None


def _give_memory_back() -> None:
    """Have freed memory go back to the system: lists of 40,000 IDs come and go, and what threads
    keep for later would be a tenth of the agent. Does nothing where the C library has no such way.
    """
    with suppress(AttributeError, OSError):
        options = ctypes.CDLL(None).mallopt
        options(_ARENA_MAX, 1)
        options(_MMAP_THRESHOLD, 32 * 1024)
        options(_TRIM_THRESHOLD, 32 * 1024)


async def _until_told(work: Coroutine[object, object, None]) -> None:
    """End in order at SIGTERM, and at Ctrl-C."""
    task = asyncio.ensure_future(work)
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, task.cancel)
    with suppress(asyncio.CancelledError):
        await task


@app.command()
def inventory(
    config: Config = None,
    output: Annotated[Form, typer.Option("--output", "-o", help="Output format.")] = Form.TEXT,
) -> None:
    """Show the cards of this node: memory, health, slices, and which processes use them."""
    try:
        cards = _inventory(load(config)).cards()
    except YamlFileError as error:
        raise _failed(error, ExitCode.NOT_UNDERSTOOD) from None
    except NoDriverError as error:
        raise _failed(error, NO_DRIVER) from None
    except InventoryError as error:
        raise _failed(error, ExitCode.FAILED) from None
    _print(output, as_data(cards), as_table(cards))


@app.command()
def allocations(
    config: Config = None,
    output: Annotated[Form, typer.Option("--output", "-o", help="Output format.")] = Form.TEXT,
) -> None:
    """Show which container has memory or slots of which card, as the kubelet of this node says."""
    from .cdi import CdiFolder
    from .container_starts import allocations as find
    from .kubelet import PodResources, PodResourcesError

    try:
        settings = load(config)
        pods = PodResources(settings.kubelet.pod_resources)
        cdi = CdiFolder(settings.cdi_kind, settings.cdi)
        found = asyncio.run(find(pods, cdi, settings.resource))
    except YamlFileError as error:
        raise _failed(error, ExitCode.NOT_UNDERSTOOD) from None
    except PodResourcesError as error:
        raise _failed(error, ExitCode.FAILED) from None
    _print(output, allocations_data(found), allocations_table(found))


def _print(output: Form, data: object, table: Iterable[str]) -> None:
    typer.echo(json.dumps(data, indent=2) if output is Form.JSON else "\n".join(table))


def _inventory(settings: NodeSettings, *, watched: bool = False) -> Inventory:
    """`watched`: faults that the driver reports from now on count."""
    if settings.inventory.file is not None:
        return FileInventory(settings.inventory.file)
    from .inventory.nvml_inventory import NvmlInventory
    from .inventory.xid_watch import XidWatch

    if not watched:
        return NvmlInventory()
    faults = XidWatch(settings.health.ignored_xids, settings.health.recovers_after)
    faults.start()
    return NvmlInventory(faults)


def _failed(error: Exception, code: int) -> typer.Exit:
    """Say what is wrong, in one line."""
    text = "".join(c if c.isprintable() else "?" for c in " ".join(str(error).split()))
    sys.stderr.write(f"cardquota-node: {text}\n")
    return typer.Exit(code)

"""`kubectl cardquota`: the commands for people, as kubectl's plugin `kubectl-cardquota`.

They are those of `cardquota`. Only for `queue`, `explain` and `page` the operator has to run; all
others need no more than the right to read; but `pause`, `resume` and `uninstall` change the
cluster, with an administrator's rights.
`python -m cardquota.cli.plugin` is the same.
"""

import gc
from typing import Final

import typer

from .app import (
    Config,
    Files,
    PlainOption,
    cards,
    check,
    every_command,
    explain,
    inspect,
    page,
    pause,
    queue,
    resume,
    settings_of,
    top,
    uninstall,
    version,
)
from .command_group import CommandGroup
from .output import EXIT_CODES, Output, PlainOutput

PROGRAM: Final = "kubectl cardquota"
plugin = typer.Typer(
    cls=CommandGroup,
    help="Show quotas per GPU card model: who holds cards, who waits, and why.",
    epilog=EXIT_CODES,
    # kubectl asks another program for completions: see `kubectl_completion`.
    add_completion=False,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)
plugin.callback()(every_command)
plugin.command()(top)
plugin.command()(queue)
plugin.command()(explain)
plugin.command()(cards)
plugin.command()(inspect)
plugin.command()(page)
plugin.command()(check)


@plugin.command()
def simulate(files: Files, config: Config = None, output: PlainOption = PlainOutput.TEXT) -> None:
    """Try YAML files without a cluster.

    As `cardquota simulate`. No cluster is read: nodes and queues come from the files.
    `kubectl apply --dry-run=server` asks the cluster.
    """
    settings = settings_of(config)
    from .simulate.simulate import simulate as simulate_files

    raise typer.Exit(simulate_files(files, settings, output=Output(output), by_plugin=True))


plugin.command()(pause)
plugin.command()(resume)
plugin.command()(uninstall)
plugin.command()(version)


def main() -> None:
    """The program `kubectl-cardquota`, which kubectl runs for `kubectl cardquota`."""
    gc.disable()  # a command lives for seconds: looking for cycles would take a fifth of them
    plugin(prog_name=PROGRAM)


if __name__ == "__main__":
    main()

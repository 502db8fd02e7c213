"""`kubectl cardquota`: the commands that only read, as kubectl's plugin `kubectl-cardquota`.

They are those of `cardquota` and need neither the operator nor rights beyond reading.
`python -m cardquota.cli.plugin` is the same.
"""

from typing import Final

import typer

from .app import cards, check, every_command, inspect, top, version
from .command_group import CommandGroup
from .exit_code import EXIT_CODES

PROGRAM: Final = "kubectl cardquota"
plugin = typer.Typer(
    cls=CommandGroup,
    help="Quotas per GPU card model: what the cluster has and what is promised.",
    epilog=EXIT_CODES,
    # kubectl asks another program for completions: see `kubectl_completion`.
    add_completion=False,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)
plugin.callback()(every_command)
plugin.command()(top)
plugin.command()(cards)
plugin.command()(inspect)
plugin.command()(check)
plugin.command()(version)


def main() -> None:
    """The program `kubectl-cardquota`, which kubectl runs for `kubectl cardquota`."""
    plugin(prog_name=PROGRAM)


if __name__ == "__main__":
    main()

"""`kubectl cardquota`: the commands that only read, as kubectl's plugin `kubectl-cardquota`.

They are those of `cardquota`. Only for `queue` and `explain` the operator has to run; all others
need no more than the right to read.
`python -m cardquota.cli.plugin` is the same.
"""

import typer

from .app import cards, check, explain, inspect, queue, top, version

plugin = typer.Typer(
    help="Quotas per GPU card model: what the cluster has and what is promised.",
    add_completion=False,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)
plugin.command()(top)
plugin.command()(queue)
plugin.command()(explain)
plugin.command()(cards)
plugin.command()(inspect)
plugin.command()(check)
plugin.command()(version)


def main() -> None:
    """The program `kubectl-cardquota`, which kubectl runs for `kubectl cardquota`."""
    plugin(prog_name="kubectl cardquota")


if __name__ == "__main__":
    main()

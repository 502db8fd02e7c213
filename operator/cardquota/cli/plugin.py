"""`kubectl cardquota`: the commands that only read, as kubectl's plugin `kubectl-cardquota`.

They are those of `cardquota`, but for `simulate`. Only for `queue` and `explain` the operator has
to run; all others need no more than the right to read.
`python -m cardquota.cli.plugin` is the same.
"""

import gc
from typing import Annotated, Final

import typer

from .app import (
    Config,
    Context,
    Kubeconfig,
    PlainOption,
    cards,
    check,
    every_command,
    explain,
    inspect,
    queue,
    settings_of,
    top,
    version,
)
from .command_group import CommandGroup
from .exit_code import EXIT_CODES
from .output import Output, PlainOutput

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
plugin.command()(check)


@plugin.command()
def simulate(
    files: Annotated[
        list[str],
        typer.Option(
            "-f",
            "--file",
            metavar="FILE",
            help="YAML with workloads: a file, a directory of files, or - for standard input. "
            "Can be repeated. Workloads are tried in the order given.",
        ),
    ],
    namespace: Annotated[
        str,
        typer.Option(
            "--namespace",
            "-n",
            metavar="NAME",
            help="The namespace of objects that name none. Default: that of the context.",
        ),
    ] = "",
    kubeconfig: Kubeconfig = None,
    context: Context = "",
    config: Config = None,
    output: PlainOption = PlainOutput.TEXT,
) -> None:
    """Try workloads from files against the cluster; create nothing.

    Shows for each pod whether it fits now, waits or is refused, and why. Reads nodes, queues,
    namespaces, pod groups and all pods with your rights. If a workload exists already, only the
    pods that it lacks are tried. Name the operator's configuration with --config. Exit code 0 if
    the workloads could be judged, whatever the answers are.
    """
    from .named_objects import checked_namespace

    checked_namespace(namespace)
    settings = settings_of(config)
    from .simulate.live_simulate import live_simulate

    raise typer.Exit(
        live_simulate(
            settings,
            files=files,
            namespace=namespace,
            kubeconfig=kubeconfig,
            context=context,
            output=Output(output),
        )
    )


plugin.command()(version)


def main() -> None:
    """The program `kubectl-cardquota`, which kubectl runs for `kubectl cardquota`."""
    gc.disable()  # a command lives for seconds: looking for cycles would take a fifth of them
    plugin(prog_name=PROGRAM)


if __name__ == "__main__":
    main()

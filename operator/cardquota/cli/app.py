"""The commands and their options. Their implementation is imported when a command runs.

A user's mistake is reported in one line on standard error, never as a traceback. The exit codes are
in `EXIT_CODES`.
"""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from .command_group import CommandGroup
from .exit_code import EXIT_CODES
from .output import DataOutput, Output, PlainOutput

if TYPE_CHECKING:
    from ..settings import Settings

app = typer.Typer(
    cls=CommandGroup,
    help="Quotas per GPU card model for Kubernetes: exact, immediate, explained.",
    epilog=EXIT_CODES,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)

Config = Annotated[
    Path | None,
    typer.Option(
        "--config",
        metavar="FILE",
        help="Settings, laid over the defaults; CARDQUOTA_* variables lie over both.",
    ),
]


Kubeconfig = Annotated[
    Path | None,
    typer.Option("--kubeconfig", metavar="FILE", help="Instead of the one of KUBECONFIG."),
]
Context = Annotated[
    str, typer.Option("--context", metavar="NAME", help="Instead of the kubeconfig's own.")
]
WideOption = Annotated[
    Output,
    typer.Option("--output", "-o", help="How to print the results; wide: with more columns."),
]
PlainOption = Annotated[
    PlainOutput, typer.Option("--output", "-o", help="How to print the results.")
]
DataOption = Annotated[DataOutput, typer.Option("--output", "-o", help="How to print the results.")]


def _show_version(context: typer.Context, wanted: bool) -> None:
    if wanted and not context.resilient_parsing:  # as it is for completions
        version()
        raise typer.Exit


VersionOption = Annotated[
    bool,
    typer.Option("--version", callback=_show_version, is_eager=True, help="Print the version."),
]


@app.callback()
def every_command(_version: VersionOption = False) -> None:
    """What is the same for all commands: its help is the group's."""


@app.command()
def run(config: Config = None) -> None:
    """Run the operator: webhooks, controllers, extender."""
    settings = settings_of(config)
    from ..runtime.run import run as run_operator

    raise typer.Exit(run_operator(settings))


@app.command()
def manifests(config: Config = None) -> None:
    """Print webhook objects and policies to apply."""
    settings = settings_of(config)
    from ..install.manifests import render

    typer.echo(render(settings), nl=False)


@app.command("scheduler-config")
def scheduler_config(
    config: Config = None,
    profile: Annotated[
        str,
        typer.Option("--profile", metavar="NAME", help="The schedulerName of the pods it serves."),
    ] = "default-scheduler",
    kubeconfig: Annotated[
        str,
        typer.Option(
            "--kubeconfig",
            metavar="PATH",
            help="Of the scheduler, where it runs. With a configuration file it ignores its flag.",
        ),
    ] = "",
    credentials: Annotated[
        str,
        typer.Option(
            "--credentials",
            metavar="FOLDER",
            help="With ca.crt, tls.crt and tls.key, where the scheduler runs.",
        ),
    ] = "/etc/cardquota-extender",
) -> None:
    """Print a kube-scheduler's configuration.

    With it the scheduler asks the extender. Of the profile that is the second kube-scheduler's,
    also its Lease.
    """
    settings = settings_of(config)
    from pathlib import PurePosixPath

    from ..install.scheduler_configuration import scheduler_text

    found = scheduler_text(
        settings,
        profile=profile,
        credentials=PurePosixPath(credentials),
        kubeconfig=kubeconfig,
    )
    typer.echo(found, nl=False)


@app.command()
def simulate(
    files: Annotated[
        list[str],
        typer.Option(
            "-f",
            "--file",
            metavar="FILE",
            help="YAML with nodes, queues and workloads: a file, a directory of them, or - for "
            "standard input. May be given several times; the order of workloads counts.",
        ),
    ],
    config: Config = None,
    output: DataOption = DataOutput.TEXT,
    timeline: Annotated[
        bool,
        typer.Option(
            "--timeline",
            help="Run jobs that come and end, in virtual time: those of --trace, or --jobs made-up "
            "ones. Workloads of the files are left out.",
        ),
    ] = False,
    trace: Annotated[
        str, typer.Option("--trace", metavar="FILE", help="CSV of jobs, or - for standard input.")
    ] = "",
    jobs: Annotated[
        int, typer.Option("--jobs", metavar="NUMBER", help="Make up so many jobs.")
    ] = 0,
    seed: Annotated[
        int, typer.Option("--seed", metavar="NUMBER", help="Another seed, other jobs.")
    ] = 0,
    write_trace: Annotated[
        Path | None,
        typer.Option("--write-trace", metavar="FILE", help="Keep the jobs of --jobs as CSV."),
    ] = None,
    svg: Annotated[
        Path | None,
        typer.Option("--svg", metavar="FILE", help="Draw who held what when."),
    ] = None,
    starvation_wait: Annotated[
        float | None,
        typer.Option(
            "--starvation-wait",
            metavar="SECONDS",
            help="Instead of the setting release.starvationWait: how long a job waits until nobody "
            "behind it takes what it needs; 0: everybody may.",
        ),
    ] = None,
) -> None:
    """Try YAML files without a cluster.

    Says of each pod whether it would be admitted, gated or denied, and why; then shows the queues
    as `kubectl get queues -o wide` would. With --timeline it says how long jobs wait, which never
    start, and how much of each card is held. Exit code 0 if the files could be read: a denial is a
    result, not a failure.
    """
    settings = settings_of(config)
    as_json = output is DataOutput.JSON
    from .simulate.timeline.timeline_options import TimelineOptions

    options = TimelineOptions(trace, jobs, seed, write_trace, svg, starvation_wait)
    wrong = options.problem if timeline else options.not_without_timeline
    if wrong:
        typer.echo(f"cardquota: {wrong}", err=True)
        raise typer.Exit(2)
    if timeline:
        from .simulate.timeline.timeline_command import timeline as run_timeline

        raise typer.Exit(run_timeline(files, options, settings, as_json=as_json))
    from .simulate.simulate import simulate as simulate_files

    raise typer.Exit(simulate_files(files, settings, as_json=as_json))


@app.command()
def cards(
    files: Annotated[
        list[str] | None,
        typer.Option(
            "-f",
            "--file",
            metavar="FILE",
            help="YAML with nodes and queues instead of a cluster: a file, a directory of them, "
            "or - for standard input. May be given several times.",
        ),
    ] = None,
    kubeconfig: Kubeconfig = None,
    context: Context = "",
    config: Config = None,
    output: WideOption = Output.TEXT,
) -> None:
    """List cards, their quotas, what is not counted.

    Reads nodes and queues as you, and counts them as the operator does; none needs to run. Name
    its configuration with --config if that has makers of cards of its own. With -o wide it also
    shows how many are in use, as the operator has published it, and which queues have a quota.
    """
    if files and (kubeconfig is not None or context):
        raise typer.BadParameter(
            "is not for a cluster: leave out --kubeconfig and --context", param_hint="-f"
        )
    settings = settings_of(config)
    from .cards.cards import cards as list_cards

    raise typer.Exit(
        list_cards(
            settings,
            files=files or (),
            kubeconfig=kubeconfig,
            context=context,
            output=output,
        )
    )


@app.command()
def top(
    watch: Annotated[
        bool,
        typer.Option(
            "--watch",
            "-w",
            help="Show it anew when it changes, at most every 2 seconds, until Ctrl-C; that is no "
            "failure then.",
        ),
    ] = False,
    kubeconfig: Kubeconfig = None,
    context: Context = "",
    config: Config = None,
    output: WideOption = Output.TEXT,
) -> None:
    """Show what each queue has, holds and waits for.

    Reads queues as you, also beside Volcano, where `kubectl get queues` does not show it. The
    operator is asked which cards are used outside every queue; if it does not answer you, nodes and
    pods are read. With -o wide each card of a queue has a row, with what is free on nodes.
    """
    if watch and output.is_data:
        raise typer.BadParameter("is for text alone: leave out -o", param_hint="--watch")
    settings = settings_of(config)
    if watch:
        from .top.watched_top import watch_top

        raise typer.Exit(watch_top(kubeconfig=kubeconfig, context=context, output=output))
    from .top.top import top as show_top

    raise typer.Exit(show_top(settings, kubeconfig=kubeconfig, context=context, output=output))


@app.command()
def inspect(
    node: Annotated[
        str, typer.Argument(metavar="[NODE]", help="This node alone, whatever its cards are.")
    ] = "",
    details: Annotated[
        bool, typer.Option("--details", "-d", help="Also the pods of each card.")
    ] = False,
    kubeconfig: Kubeconfig = None,
    context: Context = "",
    config: Config = None,
    output: PlainOption = PlainOutput.TEXT,
) -> None:
    """Show the memory of shared cards, and whose pods hold it.

    Reads nodes, pods and lists of broken cards as you, and counts as the extender does; neither it
    nor the operator needs to run.
    """
    settings = settings_of(config)
    from .inspect.inspect import inspect as inspect_cards

    raise typer.Exit(
        inspect_cards(
            settings,
            node=node,
            details=details,
            kubeconfig=kubeconfig,
            context=context,
            output=Output(output),
        )
    )


@app.command()
def check(
    terminating_after: Annotated[
        float | None,
        typer.Option(
            "--terminating-after",
            metavar="SECONDS",
            min=0,
            help="Instead of the setting stuck.terminatingAfter: how long a pod should be gone.",
        ),
    ] = None,
    gated_after: Annotated[
        float | None,
        typer.Option(
            "--gated-after",
            metavar="SECONDS",
            min=0,
            help="Instead of the setting stuck.gatedAfter: how long a pod waits at its gate.",
        ),
    ] = None,
    namespace: Annotated[
        str, typer.Option("--namespace", "-n", metavar="NAME", help="What is in it alone.")
    ] = "",
    kubeconfig: Kubeconfig = None,
    context: Context = "",
    config: Config = None,
    output: PlainOption = PlainOutput.TEXT,
) -> None:
    """Find what is wrong or stuck, and say why.

    Whether the product is installed as configured, and somebody leads; queues, nodes and
    namespaces that are not what they seem; pods that came past; pods that should be gone, pods that
    wait for long, workloads without their pods. Reads all of it as you; what you may not read is
    left out, and said. Name the operator's configuration with --config. Exit code 0 if nothing was
    found, 3 if something was; 1 also if nothing was found and not all could be looked for.
    """
    settings = settings_of(config)
    from ..quota.limits import is_object_name
    from .check.check import check as check_cluster

    if namespace and not is_object_name(namespace):
        raise typer.BadParameter("is no name of a namespace", param_hint="-n")
    stuck = settings.stuck
    raise typer.Exit(
        check_cluster(
            settings,
            terminating_after=(
                stuck.terminating_after if terminating_after is None else terminating_after
            ),
            gated_after=stuck.gated_after if gated_after is None else gated_after,
            namespace=namespace,
            kubeconfig=kubeconfig,
            context=context,
            output=Output(output),
        )
    )


@app.command()
def queue(
    name: Annotated[str, typer.Argument(metavar="NAME", help="The queue.")],
    limit: Annotated[
        int,
        typer.Option(
            "--limit",
            metavar="NUMBER",
            min=0,
            max=200,
            help="How many holders, and how many waiters, to show; the others are counted.",
        ),
    ] = 20,
    kubeconfig: Kubeconfig = None,
    context: Context = "",
    output: PlainOption = PlainOutput.TEXT,
) -> None:
    """Show who holds a queue's cards, who waits, what fits now.

    The operator answers: it must run, and you need the right to create
    queuereviews.cardquota.volcano.sh.
    """
    from ..quota.limits import is_object_name
    from .queue.queue_command import queue as show_queue

    if not is_object_name(name):
        raise typer.BadParameter("is no name of a queue", param_hint="NAME")
    raise typer.Exit(
        show_queue(name, limit=limit, kubeconfig=kubeconfig, context=context, output=Output(output))
    )


@app.command()
def explain(
    kind: Annotated[
        str,
        typer.Argument(metavar="KIND", help="pod, deploy, sts, ds, rs, job, pg, vcjob, ..."),
    ],
    name: Annotated[
        str, typer.Argument(metavar="NAME", help="Its name; or both as KIND/NAME.")
    ] = "",
    namespace: Annotated[
        str,
        typer.Option("--namespace", "-n", metavar="NAME", help="Instead of the context's own."),
    ] = "",
    kubeconfig: Kubeconfig = None,
    context: Context = "",
    output: PlainOption = PlainOutput.TEXT,
) -> None:
    """Say why a workload waits, and what would let it in.

    Its queue and why that one, its place, who holds the cards. The operator answers: it must run,
    and you need the right to create workloadreviews.cardquota.volcano.sh in the namespace.
    """
    from ..quota.limits import is_object_name
    from .explain.explain_command import explain as explain_workload
    from .explain.kind_names import KNOWN, named_kind

    if not name:
        kind, _, name = kind.partition("/")
    found = named_kind(kind)
    if found is None:
        raise typer.BadParameter(f"is none of {KNOWN}", param_hint="KIND")
    if not is_object_name(name):
        raise typer.BadParameter("is no name of an object", param_hint="NAME")
    if namespace and not is_object_name(namespace):
        raise typer.BadParameter("is no name of a namespace", param_hint="-n")
    raise typer.Exit(
        explain_workload(
            found,
            name,
            namespace=namespace,
            kubeconfig=kubeconfig,
            context=context,
            output=Output(output),
        )
    )


@app.command()
def version() -> None:
    """Print the version."""
    from .. import __version__

    typer.echo(f"cardquota {__version__}")


def settings_of(config: Path | None) -> "Settings":
    """The settings of a file, over the defaults. What is wrong with them ends the command."""
    from ..settings import SettingsError, load

    try:
        return load(config)
    except SettingsError as error:
        typer.echo(f"cardquota: {' '.join(str(error).split())}", err=True)
        raise typer.Exit(2) from None

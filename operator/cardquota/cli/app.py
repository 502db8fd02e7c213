"""The commands and their options. Their implementation is imported when a command runs.

A user's mistake is reported in one line on standard error, never as a traceback. The exit codes are
in `EXIT_CODES`.
"""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from .command_group import CommandGroup
from .output import EXIT_CODES, ClusterChoice, Output, PlainOutput

if TYPE_CHECKING:
    from ..settings import Settings

app = typer.Typer(
    cls=CommandGroup,
    help="Quotas per GPU card model for Kubernetes.",
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
        help="YAML file with settings. Settings that it leaves out keep their defaults. "
        "CARDQUOTA_* environment variables override both.",
    ),
]


Kubeconfig = Annotated[
    Path | None,
    typer.Option(
        "--kubeconfig",
        metavar="FILE",
        help="The kubeconfig of the cluster. Default: KUBECONFIG; else, in a pod, its service "
        "account; else ~/.kube/config.",
    ),
]
Context = Annotated[
    str,
    typer.Option(
        "--context",
        metavar="NAME",
        help="The context of the kubeconfig to use. Default: its current context.",
    ),
]
WideOption = Annotated[
    Output,
    typer.Option("--output", "-o", help="Output format. wide: text with more columns."),
]
YesOption = Annotated[
    bool,
    typer.Option("--yes", "-y", help="Do it. Without this nothing is changed: it is a dry run."),
]
PlainOption = Annotated[PlainOutput, typer.Option("--output", "-o", help="Output format.")]


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
    """Print webhook configurations and policies to apply.

    They depend on the settings: print and apply them again after a change.
    """
    settings = settings_of(config)
    from ..install.manifests import render

    typer.echo(render(settings), nl=False)


@app.command("scheduler-config")
def scheduler_config(
    config: Config = None,
    profile: Annotated[
        str,
        typer.Option(
            "--profile", metavar="NAME", help="The schedulerName of the pods that it schedules."
        ),
    ] = "default-scheduler",
    kubeconfig: Annotated[
        str,
        typer.Option(
            "--kubeconfig",
            metavar="PATH",
            help="The kubeconfig of the scheduler itself: a path on the scheduler's machine. A "
            "scheduler with a configuration file ignores its own --kubeconfig flag.",
        ),
    ] = "",
    credentials: Annotated[
        str,
        typer.Option(
            "--credentials",
            metavar="FOLDER",
            help="Folder with ca.crt, tls.crt and tls.key: a path on the scheduler's machine.",
        ),
    ] = "/etc/cardquota-extender",
) -> None:
    """Print a configuration for kube-scheduler.

    With this configuration, kube-scheduler asks the extender which node and which card a pod gets.
    For the profile of the second kube-scheduler (setting extender.schedulerName), it also names a
    Lease of its own.
    """
    settings = settings_of(config)
    from ..install.scheduler_configuration import scheduler_text

    found = scheduler_text(
        settings, profile=profile, credentials=credentials, kubeconfig=kubeconfig
    )
    typer.echo(found, nl=False)


Files = Annotated[
    list[str],
    typer.Option(
        "-f",
        "--file",
        metavar="FILE",
        help="YAML with nodes, queues and workloads: a file, a directory of files, or - for "
        "standard input. Can be repeated. Workloads are tried in the order given.",
    ),
]


@app.command()
def simulate(files: Files, config: Config = None, output: PlainOption = PlainOutput.TEXT) -> None:
    """Try YAML files without a cluster.

    Shows for each pod whether it would be admitted, gated or denied, and why. Then shows the queues
    as `kubectl get queues -o wide` would. `kubectl apply --dry-run=server` asks a live cluster.
    Exit code 0 if the files could be read: a denial is a result, not a failure.
    """
    settings = settings_of(config)
    from .simulate.simulate import simulate as simulate_files

    raise typer.Exit(simulate_files(files, settings, output=Output(output)))


@app.command()
def cards(
    files: Annotated[
        list[str] | None,
        typer.Option(
            "-f",
            "--file",
            metavar="FILE",
            help="Read nodes and queues from YAML instead of a cluster: a file, a directory of "
            "files, or - for standard input. Can be repeated.",
        ),
    ] = None,
    kubeconfig: Kubeconfig = None,
    context: Context = "",
    config: Config = None,
    output: WideOption = Output.TEXT,
) -> None:
    """List cards, their quotas, and what is not counted.

    Reads nodes and queues with your rights, and counts them as the operator does. The operator
    need not run. If its configuration has `vendors`, name that file with --config. With -o wide it
    also shows how many cards are in use, as published by the operator, and which queues have a
    quota.
    """
    if files and (kubeconfig is not None or context):
        raise typer.BadParameter(
            "is not for a cluster: leave out --kubeconfig and --context", param_hint="-f"
        )
    settings = settings_of(config)
    from .commands.cards import cards as list_cards

    cluster = ClusterChoice(kubeconfig, context)
    list_cards(settings, files=files or (), cluster=cluster, output=output)


@app.command()
def top(
    watch: Annotated[
        bool,
        typer.Option(
            "--watch",
            "-w",
            help="Show the table again when a queue changes, at most every 2 seconds. Ctrl-C ends "
            "it with exit code 0.",
        ),
    ] = False,
    kubeconfig: Kubeconfig = None,
    context: Context = "",
    config: Config = None,
    output: WideOption = Output.TEXT,
) -> None:
    """Show what each queue has, holds and waits for.

    Reads queues with your rights. Beside Volcano it shows what `kubectl get queues` does not. With
    -o wide each card of a queue has its own row, with its on-line and off-line use.
    """
    if watch and output.is_data:
        raise typer.BadParameter("is for text alone: leave out -o", param_hint="--watch")
    settings, cluster = settings_of(config), ClusterChoice(kubeconfig, context)
    if watch:
        from .commands.watched_top import watch_top

        watch_top(settings.namespace, cluster=cluster, output=output)
        return
    from .commands.top import top as show_top

    show_top(settings, cluster=cluster, output=output)


@app.command()
def inspect(
    node: Annotated[
        str,
        typer.Argument(metavar="[NODE]", help="Show only this node, with or without shared cards."),
    ] = "",
    details: Annotated[
        bool, typer.Option("--details", "-d", help="Also show the pods on each card.")
    ] = False,
    kubeconfig: Kubeconfig = None,
    context: Context = "",
    config: Config = None,
    output: PlainOption = PlainOutput.TEXT,
) -> None:
    """Show the memory of shared cards, and whose pods hold it.

    Reads nodes, pods and lists of broken cards with your rights, and counts as the extender does.
    Neither the extender nor the operator needs to run.
    """
    settings = settings_of(config)
    from .commands.inspect import inspect as inspect_cards

    cluster = ClusterChoice(kubeconfig, context)
    inspect_cards(settings, node=node, details=details, cluster=cluster, output=Output(output))


@app.command()
def check(
    namespace: Annotated[
        str,
        typer.Option(
            "--namespace",
            "-n",
            metavar="NAME",
            help="Check only this namespace. Default: all namespaces, and the installation, queues "
            "and nodes.",
        ),
    ] = "",
    audit: Annotated[
        bool,
        typer.Option(
            "--audit",
            help="Print what audit mode would have refused or made wait in the last 24 hours, by "
            "namespace and queue, and check nothing.",
        ),
    ] = False,
    kubeconfig: Kubeconfig = None,
    context: Context = "",
    config: Config = None,
    output: PlainOption = PlainOutput.TEXT,
) -> None:
    """Find what is wrong, and say why.

    Checks whether the product is installed as configured and has a leader. Finds mistakes in
    queues, nodes and namespaces, and pods that are charged but never passed the gate. Reads with
    your rights, and names what you may not read. The operator's settings are read from its
    Deployment and ConfigMap; --config names them where those do not. Exit code 0: nothing found.
    3: something found. 1: failed, or nothing found but not everything could be read.
    """
    settings = settings_of(config)
    from .arguments import checked_namespace
    from .check.audit_report import audit_report
    from .check.check import check as check_cluster

    checked_namespace(namespace)
    show = audit_report if audit else check_cluster
    raise typer.Exit(
        show(
            settings,
            given=config is not None,
            namespace=namespace,
            cluster=ClusterChoice(kubeconfig, context),
            output=Output(output),
        )
    )


@app.command()
def queue(
    name: Annotated[str, typer.Argument(metavar="NAME", help="The name of the queue.")],
    limit: Annotated[
        int,
        typer.Option(
            "--limit",
            metavar="NUMBER",
            min=0,
            max=200,
            help="Show at most this many holders and this many waiters. The rest is only counted.",
        ),
    ] = 20,
    kubeconfig: Kubeconfig = None,
    context: Context = "",
    output: PlainOption = PlainOutput.TEXT,
) -> None:
    """Show who holds a queue's cards, who waits, what fits now.

    The operator answers this, so it must run. You need the right to create
    queuereviews.cardquota.volcano.sh.
    """
    from .arguments import checked_name
    from .commands.queue import queue as show_queue

    checked_name(name, of="queue")
    cluster, own = ClusterChoice(kubeconfig, context), settings_of(None).namespace
    show_queue(name, own, limit=limit, cluster=cluster, output=Output(output))


@app.command()
def explain(
    kind: Annotated[
        str,
        typer.Argument(
            metavar="KIND", help="The kind: pod, deploy, sts, ds, rs, job, pg, vcjob, ..."
        ),
    ],
    name: Annotated[
        str,
        typer.Argument(
            metavar="NAME", help="The name of the workload. Or write KIND/NAME as one argument."
        ),
    ] = "",
    namespace: Annotated[
        str,
        typer.Option(
            "--namespace",
            "-n",
            metavar="NAME",
            help="The namespace of the workload. Default: that of the context.",
        ),
    ] = "",
    kubeconfig: Kubeconfig = None,
    context: Context = "",
    output: PlainOption = PlainOutput.TEXT,
) -> None:
    """Say why a workload waits, and what would let it start.

    Shows its queue and why it is in that queue, its place in the queue, and who holds the cards.
    The operator answers this, so it must run. You need the right to create
    workloadreviews.cardquota.volcano.sh in the namespace.
    """
    from .arguments import (
        KNOWN,
        MissingNameError,
        checked_name,
        checked_namespace,
        named_kind,
        quoted,
    )
    from .commands.explain import explain as explain_workload

    if not name:
        kind, _, name = kind.partition("/")
    found = named_kind(kind)
    if found is None:
        raise typer.BadParameter(f"{quoted(kind)} is not one of {KNOWN}", param_hint="KIND")
    if not name:
        raise MissingNameError("KIND NAME")
    checked_name(name)
    checked_namespace(namespace)
    cluster = ClusterChoice(kubeconfig, context)
    explain_workload(found, name, namespace=namespace, cluster=cluster, output=Output(output))


@app.command()
def page(
    address: Annotated[
        str,
        typer.Option(
            "--address",
            metavar="URL",
            help="Where the operator's port of the metrics is reached, as http://HOST:PORT: for an "
            "operator outside the cluster. Your token is sent there. Default: a port-forward to "
            "one of its pods.",
        ),
    ] = "",
    port: Annotated[
        int,
        typer.Option(
            "--port",
            metavar="NUMBER",
            min=0,
            max=65535,
            help="The port of 127.0.0.1 to serve the page on. 0: any that is free.",
        ),
    ] = 0,
    no_browser: Annotated[
        bool, typer.Option("--no-browser", help="Only print the URL, open no browser.")
    ] = False,
    service_account: Annotated[
        str,
        typer.Option(
            "--service-account",
            metavar="NAMESPACE/NAME",
            help="Show the operator a token of this account, which you may make, instead of your "
            "own: for kubeconfigs with a client certificate.",
        ),
    ] = "",
    kubeconfig: Kubeconfig = None,
    context: Context = "",
    config: Config = None,
) -> None:
    """Open the operator's page: queues, cards, who holds, who waits and why; live.

    Serves it on 127.0.0.1, with your rights, until Ctrl-C. The operator must run, with page.enabled
    in its configuration. You need the right to list queues or to get some, and to forward a port to
    the operator's pods.
    """
    settings = settings_of(config)
    from .commands.page import checked_account, checked_address
    from .commands.page import page as open_page

    open_page(
        settings.namespace,
        address=checked_address(address),
        port=port,
        browser=not no_browser,
        account=checked_account(service_account),
        cluster=ClusterChoice(kubeconfig, context),
    )


@app.command()
def pause(
    release: Annotated[
        bool,
        typer.Option("--release", help="Also open the gate of every pod that waits at it."),
    ] = False,
    yes: YesOption = False,
    kubeconfig: Kubeconfig = None,
    context: Context = "",
    config: Config = None,
    output: PlainOption = PlainOutput.TEXT,
) -> None:
    """Stop refusing and gating pods for quota, until `resume`.

    Only the API server has to work. Pods that are created meanwhile run without a gate, and are
    charged as pods that never passed it. Nobody can forge what the operator writes. Can be done
    twice. You need the right to update webhook configurations and admission policies.
    """
    settings, cluster = settings_of(config), ClusterChoice(kubeconfig, context)
    from .way_out.changes import Changes
    from .way_out.pause import pause as pause_quotas

    changes = Changes(yes, Output(output))
    pause_quotas(
        settings, given=config is not None, release=release, cluster=cluster, changes=changes
    )


@app.command()
def resume(
    yes: YesOption = False,
    kubeconfig: Kubeconfig = None,
    context: Context = "",
    config: Config = None,
    output: PlainOption = PlainOutput.TEXT,
) -> None:
    """End a pause: quotas hold again for what is created from now on.

    Asks the operator first: while it does not answer, the pause goes on, since pods would be
    refused. Can be done twice. You need the rights for `pause` and `queue`.
    """
    settings, cluster = settings_of(config), ClusterChoice(kubeconfig, context)
    from .way_out.changes import Changes
    from .way_out.pause import resume as resume_quotas

    changes = Changes(yes, Output(output))
    resume_quotas(settings, given=config is not None, cluster=cluster, changes=changes)


@app.command()
def uninstall(
    gates: Annotated[
        Literal["open", "keep"],
        typer.Option(
            "--gates",
            help="What becomes of pods at the gate. open: all may start at once, whatever the "
            "quota. keep: they wait until cardquota is installed again.",
        ),
    ],
    crds: Annotated[
        bool,
        typer.Option(
            "--crds",
            help="Also delete the definitions, and with them all queues and pod groups. Those of "
            "Volcano stay.",
        ),
    ] = False,
    yes: YesOption = False,
    kubeconfig: Kubeconfig = None,
    context: Context = "",
    config: Config = None,
    output: PlainOption = PlainOutput.TEXT,
) -> None:
    """Remove cardquota from a cluster.

    First what refuses or gates pods, then the operator, then the rest; running pods go on. Nothing
    of others is deleted. If it was cut off, run it again. You need the rights of a cluster
    administrator.
    """
    settings, cluster = settings_of(config), ClusterChoice(kubeconfig, context)
    from .way_out.changes import Changes
    from .way_out.uninstall import uninstall as uninstall_product

    uninstall_product(
        settings,
        given=config is not None,
        opens=gates == "open",
        crds=crds,
        cluster=cluster,
        changes=Changes(yes, Output(output)),
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

"""The commands: `python -m cardquota_dev build | up | down | demo | test-versions | journeys`."""

import os
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Annotated

import typer

from .build.build import build as build_binaries
from .build.build import build_control_plane
from .build.installed_program import CHROMIUM, LackingError, provided_program
from .build.prometheus import provide_prometheus
from .build.versions import CERT_MANAGER, HELM
from .demo.runner import FILES as DEMO_FILES
from .demo.runner import run as run_demo
from .demo.user import TIMEOUT
from .failure import PlaneError
from .paths import DEFAULT_PLANE, TESTS
from .plane.folder import Folder
from .plane.launch import absolute, end, start_detached
from .plane.options import DEFAULT_NODES, Options
from .plane.real_node.requirements import provide
from .plane.supervisor import supervise
from .plane.volcano.definitions import CHOICES
from .tested_versions import try_versions

app = typer.Typer(
    help="A local control plane for development: etcd, API server, controllers, scheduler, kwok.",
    add_completion=False,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
)

Dir = Annotated[
    Path, typer.Option("--dir", help="The folder of the plane.", show_default=".up in the checkout")
]


@app.command()
def build(
    *,
    node: Annotated[
        bool,
        typer.Option(
            "--node",
            help="Also what a real node needs, if this machine can have one: else say why.",
        ),
    ] = False,
    chart: Annotated[
        bool,
        typer.Option("--chart", help="Also Helm and cert-manager, for the tests of the chart."),
    ] = False,
    browser: Annotated[
        bool,
        typer.Option("--browser", help="Also Chromium, for the tests of the page: else say why."),
    ] = False,
    prometheus: Annotated[
        bool,
        typer.Option(
            "--prometheus",
            help="Also Debian's Prometheus, for the tests of board and alerts, if it can be had: "
            "else say why.",
        ),
    ] = False,
) -> None:
    """Build the binaries of the control plane that are missing from the cache.

    Of which version of Kubernetes, says the environment variable KUBERNETES.
    """
    print(build_control_plane())
    if chart:
        build_binaries(HELM)
        build_binaries(CERT_MANAGER)
    if node:
        try:
            provide()
        except LackingError as error:
            print(error)
    if browser:
        try:
            provided_program(CHROMIUM)
        except LackingError as error:
            print(f"the tests of the page in a browser are left out: {error}")
    if prometheus:
        try:
            provide_prometheus()
        except PlaneError as error:
            print(f"the tests of board and alerts are left out, without Prometheus: {error}")


@app.command()
def up(
    *,
    folder: Dir = DEFAULT_PLANE,
    nodes: Annotated[
        list[Path] | None,
        typer.Option(
            exists=True, dir_okay=False, help="YAML with nodes to create. Can be repeated."
        ),
    ] = None,
    config: Annotated[
        Path | None,
        typer.Option(exists=True, dir_okay=False, help="YAML with settings of the product."),
    ] = None,
    replicas: Annotated[int, typer.Option(min=1, max=9, help="Replicas of the product.")] = 1,
    without_product: Annotated[
        bool,
        typer.Option(
            "--without-product",
            help="Start the plane without the product, and without CRDs unless --crds names some.",
        ),
    ] = False,
    extender: Annotated[
        bool,
        typer.Option(
            "--extender", help="Let kube-scheduler ask the product which node and card a pod gets."
        ),
    ] = False,
    node: Annotated[
        bool,
        typer.Option(
            "--node",
            help="Add a real node: containerd, a kubelet, and the node agent with two cards that a "
            "file stands for. Needs Linux and root.",
        ),
    ] = False,
    deployed: Annotated[
        Path | None,
        typer.Option(
            exists=True,
            dir_okay=False,
            help="Deploy the product on the real node, by the manifests, from this archive of its "
            "image (`make image`): with --node alone.",
        ),
    ] = None,
    hpa_fast: Annotated[
        bool,
        typer.Option(
            "--hpa-fast",
            help="Let the HorizontalPodAutoscaler act within seconds, and serve its metrics. The "
            "annotation cardquota.dev/usage of a pod, or of its namespace, sets what the pod uses. "
            "Without one, the pod uses what it requests.",
        ),
    ] = False,
    crds: Annotated[
        str,
        typer.Option(
            help="CRDs of queues and pod groups: ours, volcano (Volcano's, without our fields) or "
            "none.",
            show_default="ours with the product, volcano with --volcano alone, else none",
        ),
    ] = "",
    volcano: Annotated[
        bool,
        typer.Option(
            "--volcano",
            help="Start a stand-in for Volcano. It handles jobs, pod groups, queues and commands, "
            "binds gangs, and has webhooks.",
        ),
    ] = False,
    volcano_namespace: Annotated[
        str, typer.Option(help="Namespace of the stand-in's service accounts.")
    ] = "volcano-system",
    volcano_config: Annotated[
        Path | None,
        typer.Option(help="Configuration of the stand-in's scheduler, in Volcano's format."),
    ] = None,
    volcano_ca: Annotated[
        Path | None, typer.Option(help="CAs that the stand-in's scheduler trusts (SSL_CERT_FILE).")
    ] = None,
    volcano_asks: Annotated[
        bool,
        typer.Option(
            help="Let the stand-in's scheduler ask the product which groups to enqueue. Needs a "
            "--config with scheduler: volcano."
        ),
    ] = False,
    volcano_period: Annotated[
        float,
        typer.Option(min=0.05, help="Seconds between two sessions of the stand-in's scheduler."),
    ] = 1.0,
    volcano_longest_pause: Annotated[
        float | None,
        typer.Option(
            min=0.0,
            help="Longest pause, in seconds, before the stand-in creates a refused pod again.",
            show_default="no limit: pauses double from 5 ms, 2 min 44 s in all",
        ),
    ] = None,
    bin_dir: Annotated[
        Path | None, typer.Option(help="Use only the binaries in this folder.")
    ] = None,
    detach: Annotated[
        bool, typer.Option("--detach", help="Return when the plane is ready. `down` ends it.")
    ] = False,
    background: Annotated[bool, typer.Option("--background", hidden=True)] = False,
    until_stdin_closes: Annotated[bool, typer.Option("--until-stdin-closes", hidden=True)] = False,
    product: Annotated[str, typer.Option(hidden=True)] = "",
    store_json: Annotated[bool, typer.Option("--store-json", hidden=True)] = False,
) -> None:
    """Start a plane. Print the path of the administrator's kubeconfig when all is ready."""
    if extender and without_product:
        raise typer.BadParameter("needs the product", param_hint="--extender")
    if crds not in ("", *CHOICES):
        raise typer.BadParameter(f"is one of {', '.join(CHOICES)}", param_hint="--crds")
    if crds == "none" and not without_product:
        raise typer.BadParameter("the product needs queues", param_hint="--crds")
    if deployed and (not node or without_product or extender or config or volcano):
        raise typer.BadParameter("goes with --node alone", param_hint="--deployed")
    options = Options(
        folder=Folder(absolute(folder)),
        nodes=tuple(map(absolute, nodes or [DEFAULT_NODES])),
        config=absolute(config) if config else None,
        replicas=0 if without_product else replicas,
        extender=extender,
        real_node=node,
        deployed=absolute(deployed) if deployed else None,
        quick_autoscaler=hpa_fast,
        bin_dir=absolute(bin_dir) if bin_dir else None,
        background=background,
        until_stdin_closes=until_stdin_closes,
        product=tuple(shlex.split(product)),
        store_json=store_json,
        crds=crds,
        volcano=volcano_namespace if volcano else "",
        volcano_config=absolute(volcano_config) if volcano_config else None,
        volcano_ca=absolute(volcano_ca) if volcano_ca else None,
        volcano_asks=volcano_asks,
        volcano_period=volcano_period,
        volcano_longest_pause=volcano_longest_pause,
    )
    if detach:
        start_detached(options)
    else:
        supervise(options)


@app.command()
def down(*, folder: Dir = DEFAULT_PLANE) -> None:
    """End a plane and remove its folder."""
    end(Folder(absolute(folder)))


@app.command()
def demo(
    *,
    keep: Annotated[
        bool, typer.Option("--keep", help="Leave the plane running afterwards.")
    ] = False,
    folder: Annotated[
        Path | None,
        typer.Option("--dir", help="The folder of the plane.", show_default="a temporary folder"),
    ] = None,
    files: Annotated[Path, typer.Option(exists=True, file_okay=False, hidden=True)] = DEMO_FILES,
    patience: Annotated[float, typer.Option(min=0, hidden=True)] = TIMEOUT,
) -> None:
    """Run the demo that the README shows, on a new plane, and check the result of each step."""
    path = absolute(folder) if folder else None
    raise typer.Exit(run_demo(folder=path, keep=keep, files=absolute(files), timeout=patience))


@app.command("test-versions")
def on_versions(
    *,
    workers: Annotated[int, typer.Option(min=1, help="Tests at a time.")] = 2,
    write: Annotated[
        bool, typer.Option("--write", help="Keep what came of it in results/.")
    ] = False,
) -> None:
    """Run the demo and some of the tests on the oldest and the newest Kubernetes.

    Or on the one that the environment variable KUBERNETES names.
    """
    try_versions(workers=workers, write=write)


@app.command()
def journeys(
    *, files: Annotated[bool, typer.Option("--files", help="Name the files, too.")] = False
) -> None:
    """Count the product's files on each of its four ways, in a replica without a cluster."""
    # It belongs to the tests: they have the replica, and the objects that go the ways.
    command = [sys.executable, "-m", "harness.journeys", *(["--files"] if files else [])]
    raise typer.Exit(subprocess.call(command, env=os.environ | {"PYTHONPATH": str(TESTS)}))


def main() -> None:
    """Run a command. A failure is one sentence on standard error."""
    try:
        app()
    except PlaneError as error:
        sys.exit(f"cardquota_dev: {error}")


if __name__ == "__main__":
    main()

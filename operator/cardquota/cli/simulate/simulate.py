"""`cardquota simulate`: read files, simulate, print."""

from collections.abc import Iterable

import typer

from ...quota.objects.pod import Pod
from ...quota.objects.pod_group import WrittenPodGroup
from ...settings import Settings
from .. import sentences
from ..failure import failed
from ..files.inventory import Inventory, WrittenWorkload, sort_documents
from ..files.yaml_files import YamlFileError, read_files
from ..output import Output
from ..printing import print_data, print_lines
from .answer_lines import in_data, lines
from .simulation import Simulation


def simulate(
    files: Iterable[str], settings: Settings, *, output: Output, by_plugin: bool = False
) -> int:
    """The exit code: 0 if the simulation ran, whatever it found; 1 if a file cannot be read.

    `by_plugin`: who asks may expect the queues and nodes of a cluster, so files have to have some.
    Errors: typer.BadParameter if a file was read from a cluster, or should have been.
    """
    try:
        inventory = sort_documents(read_files(files))
    except YamlFileError as error:
        return failed(error)
    if name := _first_live(inventory):
        raise typer.BadParameter(sentences.of_a_cluster(name), param_hint="-f")
    if by_plugin and inventory.workloads and not inventory.queues and not inventory.nodes:
        raise typer.BadParameter(sentences.NO_CLUSTER, param_hint="-f")
    answers = Simulation(settings, inventory).run()
    if output.is_data:
        print_data(in_data(answers), output)
    else:
        print_lines(lines(answers))
    return 0


def _first_live(inventory: Inventory) -> str:
    """The first pod or pod group of a cluster, which has a uid; empty if there is none."""
    for one in inventory.workloads:
        body = one.body if isinstance(one, WrittenWorkload) else one
        if isinstance(body, Pod | WrittenPodGroup) and body.metadata.uid:
            kind = "Pod" if isinstance(body, Pod) else "PodGroup"
            return f"{kind} {body.metadata.namespace}/{body.metadata.name}"
    return ""

"""`cardquota simulate`: read files, simulate, print lines for people or data for programs."""

from collections.abc import Iterable, Iterator
from itertools import groupby
from typing import Any, Final

import msgspec
import typer
from rich.text import Text

from ...quota.objects.node import Node
from ...quota.objects.pod import Pod
from ...quota.objects.pod_group import WrittenPodGroup
from ...quota.objects.queue import Queue
from ...quota.reports.queue_report import QueueReport, columns
from ...quota.words import listed, show
from ...settings import Settings
from ..output import Output
from ..printing import failed, print_data, print_lines, table
from .inventory import Inventory, WrittenWorkload, sort_documents
from .simulation import Answer, Answers, PodAnswer, Simulation, WorkloadAnswer
from .yaml_files import YamlFileError, read_files


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
        told = (
            f"{show(name, most=200)} has a uid, so it is of a live cluster; simulate begins with "
            "an empty one: leave such pods and pod groups out, or ask the cluster (kubectl apply "
            "--dry-run=server)"
        )
        raise typer.BadParameter(told, param_hint="-f")
    there = [*inventory.of(Queue), *inventory.of(Node)]
    if by_plugin and inventory.workloads and not there:
        told = (
            "the files have no queues and no nodes, and no cluster is read: add them (kubectl get "
            "nodes,namespaces,queues -o json), or ask the cluster (kubectl apply --dry-run=server)"
        )
        raise typer.BadParameter(told, param_hint="-f")
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


_MOST_NAMED: Final = 4
"""Pods with the same answer, or nodes, that one line names. The rest are counted."""
_LONGEST_NAME: Final = 120
_COLUMNS: Final = (
    "NAME",
    "STATE",
    "CARDS",
    "INQUEUE",
    "ELASTIC",
    "REQUESTED",
    "CPU",
    "MEMORY",
    "NOTE",
)


_STYLES: Final = {
    Answer.ADMITTED: "green",
    Answer.GATED: "yellow",
    Answer.DENIED: "red",
    Answer.UNMANAGED: "cyan",
}
"""In the order in which they are counted."""
_WIDTH: Final = max(map(len, Answer))


def lines(answers: Answers) -> Iterator[Text]:
    """The results for people: what was left out, each workload, the queues."""
    for note in answers.notes:
        yield Text(f"note: {note}", style="dim")
    for refused in answers.refused:
        yield Text.assemble(
            f"{refused.kind} {show(refused.name)}: ", ("refused", "red"), f": {refused.text}"
        )
    if answers.notes or answers.refused:
        yield Text()
    for workload in answers.workloads:
        yield from _workload(workload)
        yield Text()
    if answers.queues:
        yield from table([_COLUMNS, *map(_row, answers.queues)])
    else:
        yield Text("No queues.")


def _workload(found: WorkloadAnswer) -> Iterator[Text]:
    """How many pods have which answer, and one line for pods with the same one."""
    counts = [
        f"{number} {answer}"
        for answer in _STYLES
        if (number := sum(pod.answer is answer for pod in found.pods))
    ]
    told = ", ".join(counts) or found.note
    name = show(f"{found.namespace}/{found.name}", most=_LONGEST_NAME)
    yield Text.assemble((f"{found.kind} {name}", "bold"), f": {told}")
    for _, alike in groupby(found.pods, key=_telling):
        yield from _pods(list(alike))


def _telling(pod: PodAnswer) -> tuple[object, ...]:
    """What is printed of a pod besides its name and node."""
    return pod.answer, pod.text, tuple(pod.cards.items()), pod.pending, pod.warnings


def _pods(alike: list[PodAnswer]) -> Iterator[Text]:
    pod = alike[0]
    names = listed([one.name for one in alike], most=_MOST_NAMED)
    word = (f"{pod.answer:{_WIDTH}}", _STYLES[pod.answer])
    yield Text.assemble("  ", word, f"  {names}: {_told(alike)}")
    for warning in pod.warnings:
        yield Text(f"  {'':{_WIDTH}}  warning: {warning}", style="yellow")


def _told(alike: list[PodAnswer]) -> str:
    pod = alike[0]
    if pod.answer in (Answer.DENIED, Answer.GATED):
        return pod.text
    cards = ", ".join(f"{show(card)} {amount}" for card, amount in pod.cards.items())
    cards += " each" if cards and len(alike) > 1 else ""
    nodes = list(dict.fromkeys(one.node for one in alike if one.node))
    word = "nodes" if len(nodes) > 1 else "node"
    place = f"on {word} {listed(nodes, most=_MOST_NAMED)}" if nodes else pod.pending
    return "; ".join(part for part in (pod.text, cards, place) if part)


def _row(report: QueueReport) -> tuple[str, ...]:
    found = columns(report)
    texts = (found.cards, found.inqueue, found.elastic, found.requested, found.cpu, found.memory)
    return (show(report.name), show(report.state), *texts, found.note)


def in_data(answers: Answers) -> dict[str, Any]:
    """For programs: everything that is printed, and each queue's rows as in its status."""
    found: dict[str, Any] = msgspec.to_builtins(answers)
    found["queues"] = [
        {
            "name": report.name,
            "state": report.state,
            "cards": msgspec.to_builtins(report.cards),
            "resources": [row.texts() for row in report.resources],
            "columns": msgspec.to_builtins(columns(report)),
        }
        for report in answers.queues
    ]
    return found

"""`cardquota simulate`: read files, simulate, print."""

import time
from collections.abc import Iterable, Iterator
from itertools import groupby
from typing import Any, Final

import msgspec
from rich.text import Text

from ...quota.reports.queue_report import QueueReport, columns
from ...quota.words import listed, show
from ...settings import Settings
from ..failure import failed
from ..files.inventory import sort_documents
from ..files.yaml_files import YamlFileError, read_files
from ..printing import print_json, print_lines
from ..table import table
from .answers import Answer, Answers, PodAnswer, WorkloadAnswer
from .simulation import Simulation

MOST_NAMED: Final = 4
"""Pods with the same answer, or nodes, that one line names. The rest are counted."""
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
    Answer.HELD: "blue",
    Answer.ADMITTED: "green",
    Answer.GATED: "yellow",
    Answer.DENIED: "red",
    Answer.LET_BY: "cyan",
}
_WIDTH: Final = max(len(answer) for answer in Answer)


def simulate(files: Iterable[str], settings: Settings, *, as_json: bool) -> int:
    """The exit code: 0 if the simulation ran, whatever it found; 1 if a file cannot be read."""
    try:
        inventory = sort_documents(read_files(files))
    except YamlFileError as error:
        return failed(error)
    answers = Simulation(settings, inventory).run(time.time())
    if as_json:
        print_json(_plain(answers))
    else:
        print_lines(lines(answers))
    return 0


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
    yield from _queues(answers.queues)


def _workload(found: WorkloadAnswer) -> Iterator[Text]:
    counts = [
        f"{n} {answer}" for answer in Answer if (n := sum(p.answer is answer for p in found.pods))
    ]
    summary = ", ".join(counts) or found.note
    name = show(f"{found.namespace}/{found.name}")
    yield Text.assemble((f"{found.kind} {name}", "bold"), f": {summary}")
    for _, alike in groupby(found.pods, key=_telling):
        yield from _pods(list(alike))


def _telling(pod: PodAnswer) -> tuple[object, ...]:
    """What is printed of a pod besides its name and node."""
    return (pod.answer, pod.text, tuple(pod.cards.items()), pod.pending, pod.warnings)


def _pods(alike: list[PodAnswer]) -> Iterator[Text]:
    """One line for pods with the same text."""
    pod = alike[0]
    answer = (f"{pod.answer:{_WIDTH}}", _STYLES[pod.answer])
    yield Text.assemble(
        "  ", answer, f"  {listed([p.name for p in alike], most=MOST_NAMED)}: {_told(alike)}"
    )
    for warning in pod.warnings:
        yield Text(f"  {'':{_WIDTH}}  warning: {warning}", style="yellow")


def _told(alike: list[PodAnswer]) -> str:
    pod = alike[0]
    if pod.answer in (Answer.DENIED, Answer.GATED):
        return pod.text
    cards = ", ".join(f"{show(card)} {amount}" for card, amount in pod.cards.items())
    cards += " each" if cards and len(alike) > 1 else ""
    nodes = list(dict.fromkeys(p.node for p in alike if p.node))
    where = f"{'nodes' if len(nodes) > 1 else 'node'} {listed(nodes, most=MOST_NAMED)}"
    place = f"on {where}" if nodes else pod.pending
    return "; ".join(part for part in (pod.text, cards, place) if part)


def _queues(reports: list[QueueReport]) -> Iterator[Text]:
    """The columns of `kubectl get queues -o wide`."""
    if not reports:
        yield Text("No queues.")
        return
    yield from table([_COLUMNS, *(_row(report) for report in reports)])


def _row(report: QueueReport) -> tuple[str, ...]:
    found = columns(report)
    texts = (found.cards, found.inqueue, found.elastic, found.requested, found.cpu, found.memory)
    return (report.name, report.state, *texts, found.note)


def _plain(answers: Answers) -> dict[str, Any]:
    """For programs: everything that is printed, and each queue's rows as in its status."""
    found: dict[str, Any] = msgspec.to_builtins(answers)
    found["queues"] = [
        {
            "name": report.name,
            "state": report.state,
            "cards": msgspec.to_builtins(report.cards),
            "resources": msgspec.to_builtins(report.resources),
            "columns": msgspec.to_builtins(columns(report)),
        }
        for report in answers.queues
    ]
    return found

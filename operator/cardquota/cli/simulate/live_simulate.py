"""`kubectl cardquota simulate`: read a cluster and files, judge, print."""

import asyncio
import time
from collections.abc import Iterator, Sequence
from itertools import groupby
from pathlib import Path
from typing import Any, Final

import msgspec
from rich.text import Text

from ...cluster.api.access import AccessError
from ...cluster.api.find_access import find_access
from ...quota.reports.queue_report import columns
from ...quota.words import listed, show
from ...settings import Settings
from .. import sentences
from ..cards.card_sources import ClusterError
from ..failure import failed
from ..files.inventory import Inventory, sort_documents
from ..files.yaml_files import Document, YamlFileError, read_files
from ..output import Output
from ..printing import print_data, print_lines
from ..table import table
from .answers import Answer, Answers, PodAnswer, WorkloadAnswer
from .cluster_objects import ClusterObjects, read_cluster_objects
from .live_simulation import LiveSimulation

_WORDS: Final = {
    Answer.ADMITTED: ("fits now", "fit now", "green"),
    Answer.GATED: ("waits", "wait", "yellow"),
    Answer.DENIED: ("refused", "refused", "red"),
    Answer.LET_BY: ("let by", "let by", "cyan"),
}
"""Of one pod, and of more."""
_WIDTH: Final = max(len(words[0]) for words in _WORDS.values())
_MOST_NOTES: Final = 20
_MOST_NAMED: Final = 4
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


def live_simulate(
    settings: Settings,
    *,
    files: Sequence[str],
    namespace: str,
    kubeconfig: Path | None,
    context: str,
    output: Output,
) -> int:
    """The exit code: 0 if it could be judged, whatever the answers are; 1 if a file or the cluster
    could not be read, 2 without a cluster. `namespace`: of objects that name none; empty: that of
    the context.
    """
    try:
        documents = read_files(files)
        inventory, cluster = asyncio.run(_read(documents, namespace, kubeconfig, context))
    except (AccessError, ClusterError, YamlFileError) as error:
        return failed(error)
    answers = LiveSimulation(settings, inventory, cluster).judge(time.time())
    if output.is_data:
        print_data(in_data(answers), output)
    else:
        print_lines(lines(answers))
    return 0


async def _read(
    documents: Sequence[Document], namespace: str, kubeconfig: Path | None, context: str
) -> tuple[Inventory, ClusterObjects]:
    """What the files say, then what the cluster has. Errors: AccessError, ClusterError,
    YamlFileError.
    """
    access = await find_access(kubeconfig, context)
    for document in documents:
        _put_in(document, namespace or access.namespace)
    inventory = sort_documents(documents)
    return inventory, await read_cluster_objects(access)


def _put_in(document: Document, namespace: str) -> None:
    meta = document.body.get("metadata")
    if isinstance(meta, dict) and not meta.get("namespace"):
        meta["namespace"] = namespace


def lines(answers: Answers) -> Iterator[Text]:
    """For people: what was left out, each workload, the queues of these."""
    for note in answers.notes[:_MOST_NOTES]:
        yield Text(f"note: {note}", style="dim")
    if len(answers.notes) > _MOST_NOTES:
        yield Text(f"note: {sentences.more_notes(len(answers.notes) - _MOST_NOTES)}", style="dim")
    for refused in answers.refused:
        yield Text.assemble(
            f"{refused.kind} {show(refused.name)}: ", ("refused", "red"), f": {refused.text}"
        )
    if answers.notes or answers.refused:
        yield Text()
    if not answers.workloads:
        yield Text(sentences.NO_WORKLOADS)
    for workload in answers.workloads:
        yield from _workload(workload)
        yield Text()
    if answers.queues:
        rows = [(one.name, one.state, columns(one)) for one in answers.queues]
        yield from table(
            [
                _COLUMNS,
                *(
                    (
                        show(name),
                        show(state),
                        c.cards,
                        c.inqueue,
                        c.elastic,
                        c.requested,
                        c.cpu,
                        c.memory,
                        c.note,
                    )
                    for name, state, c in rows
                ),
            ]
        )


def _workload(found: WorkloadAnswer) -> Iterator[Text]:
    counts = [
        f"{n} {_WORDS[answer][n > 1]}"
        for answer in _WORDS
        if (n := sum(pod.answer is answer for pod in found.pods))
    ]
    name = show(f"{found.namespace}/{found.name}", most=120)
    told = ", ".join(filter(None, [*counts, found.note]))
    yield Text.assemble((f"{found.kind} {name}", "bold"), f": {told}")
    for _, alike in groupby(found.pods, key=_telling):
        yield from _pods(list(alike))


def _telling(pod: PodAnswer) -> tuple[object, ...]:
    """What is printed of a pod besides its name and node."""
    return pod.answer, pod.text, tuple(pod.cards.items()), pod.pending, pod.warnings


def _pods(alike: list[PodAnswer]) -> Iterator[Text]:
    """One line for pods with the same answer."""
    pod = alike[0]
    word, _, style = _WORDS[pod.answer]
    names = listed([one.name for one in alike], most=_MOST_NAMED)
    yield Text.assemble("  ", (f"{word:{_WIDTH}}", style), f"  {names}: {_told(alike)}")
    for warning in pod.warnings:
        yield Text(f"  {'':{_WIDTH}}  warning: {warning}", style="yellow")


def _told(alike: list[PodAnswer]) -> str:
    pod = alike[0]
    if pod.answer in (Answer.DENIED, Answer.GATED):
        return pod.text
    cards = ", ".join(f"{show(card)} {amount}" for card, amount in pod.cards.items())
    cards += " each" if cards and len(alike) > 1 else ""
    nodes = list(dict.fromkeys(one.node for one in alike if one.node))
    place = f"room on {listed(nodes, most=_MOST_NAMED)}" if nodes else pod.pending
    return "; ".join(part for part in (pod.text, cards, place) if part)


def in_data(answers: Answers) -> dict[str, Any]:
    """For programs: as `cardquota simulate -o json` prints it."""
    found: dict[str, Any] = msgspec.to_builtins(answers)
    found["queues"] = [
        {
            "name": one.name,
            "state": one.state,
            "cards": msgspec.to_builtins(one.cards),
            "resources": msgspec.to_builtins(one.resources),
            "columns": msgspec.to_builtins(columns(one)),
        }
        for one in answers.queues
    ]
    return found

"""`kubectl cardquota simulate`: read a cluster and files, judge, print."""

import asyncio
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

from rich.text import Text

from ...cluster.api.access import AccessError
from ...cluster.api.find_access import find_access
from ...quota.words import listed
from ...settings import Settings
from .. import sentences
from ..cluster_error import ClusterError
from ..failure import failed
from ..files.inventory import Inventory, sort_documents
from ..files.yaml_files import Document, YamlFileError, read_files
from ..output import Output
from ..printing import print_data, print_lines
from .answer_lines import (
    MOST_NAMED,
    AnswerWords,
    Wording,
    in_data,
    left_out_lines,
    queue_lines,
    workload_lines,
)
from .answers import Answer, Answers
from .cluster_objects import ClusterObjects, read_cluster_objects
from .live_simulation import LiveSimulation

_MOST_NOTES: Final = 20


def _room_on(nodes: Sequence[str]) -> str:
    return f"room on {listed(nodes, most=MOST_NAMED)}"


_WORDING: Final = Wording(
    {
        Answer.ADMITTED: AnswerWords("fits now", "fit now", "green"),
        Answer.GATED: AnswerWords("waits", "wait", "yellow"),
        Answer.DENIED: AnswerWords("refused", "refused", "red"),
        Answer.UNMANAGED: AnswerWords("unmanaged", "unmanaged", "cyan"),
    },
    _room_on,
    note_beside=True,
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
    notes = answers.notes[:_MOST_NOTES]
    if len(answers.notes) > _MOST_NOTES:
        notes = [*notes, sentences.more_notes(len(answers.notes) - _MOST_NOTES)]
    yield from left_out_lines(answers, notes)
    if not answers.workloads:
        yield Text(sentences.NO_WORKLOADS)
    for workload in answers.workloads:
        yield from workload_lines(workload, _WORDING)
        yield Text()
    if answers.queues:
        yield from queue_lines(answers.queues)

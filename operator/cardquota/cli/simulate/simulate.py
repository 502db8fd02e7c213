"""`cardquota simulate`: read files, simulate, print."""

import time
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from rich.text import Text

from ...quota.words import listed
from ...settings import Settings
from ..failure import failed
from ..files.inventory import sort_documents
from ..files.yaml_files import YamlFileError, read_files
from ..printing import print_json, print_lines
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
from .simulation import Simulation

_STYLES: Final = {
    Answer.HELD: "blue",
    Answer.ADMITTED: "green",
    Answer.GATED: "yellow",
    Answer.DENIED: "red",
    Answer.UNMANAGED: "cyan",
}


def _on_nodes(nodes: Sequence[str]) -> str:
    return f"on {'nodes' if len(nodes) > 1 else 'node'} {listed(nodes, most=MOST_NAMED)}"


_WORDING: Final = Wording(
    {answer: AnswerWords(answer, answer, style) for answer, style in _STYLES.items()},
    _on_nodes,
    note_beside=False,
)


def simulate(files: Iterable[str], settings: Settings, *, as_json: bool) -> int:
    """The exit code: 0 if the simulation ran, whatever it found; 1 if a file cannot be read."""
    try:
        inventory = sort_documents(read_files(files))
    except YamlFileError as error:
        return failed(error)
    answers = Simulation(settings, inventory).run(time.time())
    if as_json:
        print_json(in_data(answers))
    else:
        print_lines(lines(answers))
    return 0


def lines(answers: Answers) -> Iterator[Text]:
    """The results for people: what was left out, each workload, the queues."""
    yield from left_out_lines(answers, answers.notes)
    for workload in answers.workloads:
        yield from workload_lines(workload, _WORDING)
        yield Text()
    if answers.queues:
        yield from queue_lines(answers.queues)
    else:
        yield Text("No queues.")

"""The answers of a simulation: as lines for people, or as data for programs.

Over files and in a live cluster they are the same, but for the words of each answer.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import groupby
from typing import Any, Final, NamedTuple

import msgspec
from rich.text import Text

from ...quota.reports.queue_report import QueueReport, columns
from ...quota.words import listed, show
from ..table import table
from .answers import Answer, Answers, PodAnswer, WorkloadAnswer

MOST_NAMED: Final = 4
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


class AnswerWords(NamedTuple):
    """How one answer is printed."""

    one: str
    """Of one pod."""
    several: str
    style: str


class Wording(NamedTuple):
    """How the answers are printed."""

    answers: Mapping[Answer, AnswerWords]
    """In the order in which they are counted."""
    on_nodes: Callable[[Sequence[str]], str]
    """Where pods are, or would be."""
    note_beside: bool
    """Whether a workload's note is told beside the counts, too, or only in their place."""


def left_out_lines(answers: Answers, notes: Sequence[str]) -> Iterator[Text]:
    """What was left out, and what was refused: before the workloads."""
    for note in notes:
        yield Text(f"note: {note}", style="dim")
    for refused in answers.refused:
        yield Text.assemble(
            f"{refused.kind} {show(refused.name)}: ", ("refused", "red"), f": {refused.text}"
        )
    if answers.notes or answers.refused:
        yield Text()


def workload_lines(found: WorkloadAnswer, wording: Wording) -> Iterator[Text]:
    """One workload: how many pods have which answer, and one line for pods with the same one."""
    counts = [
        f"{number} {words.several if number > 1 else words.one}"
        for answer, words in wording.answers.items()
        if (number := sum(pod.answer is answer for pod in found.pods))
    ]
    note = found.note if wording.note_beside or not counts else ""
    told = ", ".join(filter(None, [*counts, note]))
    name = show(f"{found.namespace}/{found.name}", most=_LONGEST_NAME)
    yield Text.assemble((f"{found.kind} {name}", "bold"), f": {told}")
    for _, alike in groupby(found.pods, key=_telling):
        yield from _pods(list(alike), wording)


def _telling(pod: PodAnswer) -> tuple[object, ...]:
    """What is printed of a pod besides its name and node."""
    return pod.answer, pod.text, tuple(pod.cards.items()), pod.pending, pod.warnings


def _pods(alike: list[PodAnswer], wording: Wording) -> Iterator[Text]:
    pod, width = alike[0], max(len(words.one) for words in wording.answers.values())
    words = wording.answers[pod.answer]
    names = listed([one.name for one in alike], most=MOST_NAMED)
    told = _told(alike, wording)
    yield Text.assemble("  ", (f"{words.one:{width}}", words.style), f"  {names}: {told}")
    for warning in pod.warnings:
        yield Text(f"  {'':{width}}  warning: {warning}", style="yellow")


def _told(alike: list[PodAnswer], wording: Wording) -> str:
    pod = alike[0]
    if pod.answer in (Answer.DENIED, Answer.GATED):
        return pod.text
    cards = ", ".join(f"{show(card)} {amount}" for card, amount in pod.cards.items())
    cards += " each" if cards and len(alike) > 1 else ""
    nodes = list(dict.fromkeys(one.node for one in alike if one.node))
    place = wording.on_nodes(nodes) if nodes else pod.pending
    return "; ".join(part for part in (pod.text, cards, place) if part)


def queue_lines(reports: Sequence[QueueReport]) -> Iterator[Text]:
    """The columns of `kubectl get queues -o wide`, but for the age."""
    yield from table([_COLUMNS, *map(_row, reports)])


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
            "resources": msgspec.to_builtins(report.resources),
            "columns": msgspec.to_builtins(columns(report)),
        }
        for report in answers.queues
    ]
    return found

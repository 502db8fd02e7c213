"""`cardquota cards`: read nodes and queues, count, print."""

import asyncio
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Final

import msgspec
from rich.text import Text

from ...cluster.api.access import AccessError
from ...quota.words import listed, show
from ...settings import Settings
from .. import sentences
from ..cluster_error import ClusterError
from ..failure import failed
from ..files.yaml_files import YamlFileError
from ..output import Output
from ..printing import print_data, print_lines
from ..table import table
from .card_list import CardLine, CardList
from .card_sources import from_cluster, from_files

MOST_NAMED: Final = 4
"""Nodes, or cards, with the same problem that one line names. The rest are counted."""
_COLUMNS: Final = ("CARD", "RESOURCE", "ALLOCATABLE", "QUOTA", "QUEUES", "NODES", "OVERSOLD")
_WIDE_COLUMNS: Final = ("ALLOCATED", "INQUEUE", "QUOTA IN")
_NOTHING: Final = "-"


def cards(
    settings: Settings,
    *,
    files: Sequence[str],
    kubeconfig: Path | None,
    context: str,
    output: Output,
) -> int:
    """The exit code: 0 if the list was made, 1 if it could not be, 2 if no cluster was found."""
    vendors = settings.vendor_table
    try:
        if files:
            found = from_files(files, vendors)
        else:
            found = asyncio.run(from_cluster(kubeconfig, context, vendors))
    except (AccessError, ClusterError, YamlFileError) as error:
        return failed(error)
    if output.is_data:
        print_data(msgspec.to_builtins(found), output)
    else:
        print_lines(lines(found, wide=output is Output.WIDE))
    return 0


def lines(found: CardList, *, wide: bool = False) -> Iterator[Text]:
    """The list for people: notes, the cards, what is not counted, what is in no vendor row, what
    cannot be read, what is claimed from DeviceClasses, which labels have unknown values. `wide`: of
    each card also what is in use, and the queues that have a quota of it.
    """
    for note in found.notes:
        yield Text(f"note: {note}", style="dim")
    if found.notes:
        yield Text()
    if found.cards:
        head = _COLUMNS + _WIDE_COLUMNS if wide else _COLUMNS
        yield from table(
            [head, *(_row(card) + (_more(card) if wide else ()) for card in found.cards)]
        )
    else:
        yield Text(sentences.NO_CARDS)
    if found.not_counted:
        yield from _headed("Not counted:")
        yield from _alike((entry.node, entry.problem) for entry in found.not_counted)
    if found.without_row:
        yield from _headed("In no vendor row:")
        yield from _alike((entry.card, entry.problem) for entry in found.without_row)
    if found.unreadable_quotas:
        yield from _headed("Quotas that cannot be read:")
        for quota in found.unreadable_quotas:
            yield Text(f"  {show(quota.queue)}: {quota.problem}")
    if found.claimed:
        yield from _headed("Claimed from DeviceClasses:")
        for entry in found.claimed:
            yield Text(f"  {show(entry.device_class)}: {entry.problem}")
    if found.unknown_modes:
        yield from _headed("Labels of namespaces that mean nothing:")
        for mode in found.unknown_modes:
            yield Text(f"  {mode.problem}")


def _headed(text: str) -> Iterator[Text]:
    yield Text()
    yield Text(text, style="yellow")


def _row(card: CardLine) -> tuple[str, ...]:
    def shown(amount: int | None) -> str:
        return _NOTHING if amount is None else str(amount)

    return (
        show(card.name),
        show(card.resource or _NOTHING),
        str(card.allocatable),
        shown(card.quota),
        shown(card.queues),
        str(card.nodes),
        shown(card.oversold or None),
    )


def _more(card: CardLine) -> tuple[str, ...]:
    amounts = (_NOTHING if one is None else str(one) for one in (card.allocated, card.inqueue))
    return (*amounts, listed(card.queue_names) if card.queue_names else _NOTHING)


def _alike(found: Iterable[tuple[str, str]]) -> Iterator[Text]:
    """One line for all nodes, or cards, with the same problem. The most frequent comes first."""
    alike: dict[str, list[str]] = {}
    for name, problem in found:
        alike.setdefault(problem, []).append(name)
    for problem, names in sorted(alike.items(), key=lambda item: -len(item[1])):
        yield Text(f"  {listed(names, most=MOST_NAMED)}: {problem}")

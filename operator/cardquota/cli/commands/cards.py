"""`cardquota cards`: read nodes and queues of files, or of a cluster as its user; count, print."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Final

import msgspec
import typer
from rich.text import Text

from ...quota.words import counted, listed, show
from ...settings import Settings
from ..output import ClusterChoice, Output
from ..printing import failed, print_data, print_lines, table
from ..read_ledger import kinds_of
from ..reading import NOT_FOUND, ClusterError, client_of, done
from ..simulate.inventory import sort_documents, struct_of
from ..simulate.yaml_files import YamlFileError, read_files
from .card_list import CardCount, CardLine, CardList, Problem

MOST_NAMED: Final = 4
"""Nodes, or cards, with the same problem that one line names. The rest are counted."""
_COLUMNS: Final = ("CARD", "RESOURCE", "ALLOCATABLE", "QUOTA", "QUEUES", "NODES", "OVERSOLD")
_WIDE_COLUMNS: Final = ("ALLOCATED", "INQUEUE", "QUOTA IN")
_NOTHING: Final = "-"


def cards(
    settings: Settings,
    *,
    files: Sequence[str],
    cluster: ClusterChoice,
    output: Output,
) -> None:
    """List them. Errors: typer.Exit, if they could not be listed."""
    try:
        found = from_files(files, settings) if files else done(from_cluster(cluster, settings))
    except YamlFileError as error:
        raise typer.Exit(failed(error)) from None
    if output.is_data:
        print_data(msgspec.to_builtins(found), output)
    else:
        print_lines(lines(found, wide=output is Output.WIDE))


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
        yield Text("No cards.")
    yield from _headed("Not counted:", _alike("node", found.not_counted))
    yield from _headed("In no vendor row:", _alike("card", found.without_row))
    quotas = (f"{show(one['queue'])}: {one['problem']}" for one in found.unreadable_quotas)
    yield from _headed("Quotas that cannot be read:", quotas)
    claimed = (f"{show(one['device_class'])}: {one['problem']}" for one in found.claimed)
    yield from _headed("Claimed from DeviceClasses:", claimed)
    modes = (one["problem"] for one in found.unknown_modes)
    yield from _headed("Labels of namespaces that mean nothing:", modes)


def _headed(head: str, texts: Iterable[str]) -> Iterator[Text]:
    """Nothing where there is no text."""
    for number, text in enumerate(texts):
        if not number:
            yield Text()
            yield Text(head, style="yellow")
        yield Text(f"  {text}")


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


def _alike(what: str, found: Iterable[Problem]) -> Iterator[str]:
    """One line for all nodes, or cards, with the same problem. The most frequent comes first."""
    alike: dict[str, list[str]] = {}
    for one in found:
        alike.setdefault(one["problem"], []).append(one[what])
    for problem, names in sorted(alike.items(), key=lambda item: -len(item[1])):
        yield f"{listed(names, most=MOST_NAMED)}: {problem}"


_COUNTED: Final = ("nodes", "queues")
_BESIDE: Final = ("namespaces", "deviceclasses")
"""Without them there is a list all the same."""


def from_files(files: Iterable[str], settings: Settings) -> CardList:
    """The cards of YAML files. Objects of other kinds are skipped. Raises YamlFileError."""
    count = CardCount(settings)
    every = kinds_of(count.read.ledger)
    kinds = {every[name].struct: every[name] for name in (*_COUNTED, *_BESIDE)}
    documents = read_files(files)
    ours = [one for one in documents if struct_of(one) in kinds]
    inventory = sort_documents(ours)
    count.notes += inventory.notes
    if len(ours) < len(documents):
        others = counted(len(documents) - len(ours), "object")
        count.notes.append(f"{others} of other kinds skipped: they say nothing of cards")
    for struct, kind in kinds.items():
        for found in inventory.of(struct):
            count.read.take(kind, found)
    return count.listed()


async def from_cluster(cluster: ClusterChoice, settings: Settings) -> CardList:
    """The cards of a cluster. Needs the right to list nodes.

    If Queues do not exist as a kind, or the user may not list them, they are left out with a note.
    Namespaces and DeviceClasses that the user may not list are left out without a note; if it is
    something else that keeps them from being listed, a note says what.
    Errors: AccessError, ClusterError.
    """
    count = CardCount(settings)
    kinds = kinds_of(count.read.ledger)
    async with client_of(cluster) as client:
        for name in _COUNTED:
            await count.read.read(client, kinds[name])
            count.read.need("nodes")
        for name in _BESIDE:
            try:
                await count.read.read(client, kinds[name])
            except ClusterError as error:
                count.notes.append(str(error))
    if (why := count.read.unread.get("queues")) is not None:
        none = "the cluster has no definition of Queue"
        count.notes.append(f"{none if why.status == NOT_FOUND else why}: no quotas are shown")
    return count.listed()

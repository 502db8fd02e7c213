"""`cardquota cards`: read nodes and queues of files, or of a cluster as its user; count, print."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Final, TypeVar

import msgspec
import typer
from rich.text import Text

from ...cluster.api.client import Client
from ...cluster.watch.listing import Unreadable
from ...quota.cards.vendor_table import VendorTable
from ...quota.objects.cluster import DeviceClass, Namespace
from ...quota.objects.node import Node
from ...quota.objects.queue import Queue
from ...quota.vocabulary import API_GROUP, VERSION
from ...quota.words import counted, listed, show
from ...settings import Settings
from ..output import ClusterChoice, Output
from ..printing import failed, print_data, print_lines, table
from ..reading import FORBIDDEN, NOT_FOUND, ClusterError, client_of, done
from ..reading import listed as listed_objects
from ..simulate.inventory import sort_documents
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
        if files:
            found = from_files(files, settings.vendor_table)
        else:
            found = done(from_cluster(cluster, settings.vendor_table))
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


T = TypeVar("T", bound=msgspec.Struct)
_CLASSES: Final = tuple(
    f"/apis/resource.k8s.io/{version}/deviceclasses" for version in ("v1", "v1beta2", "v1beta1")
)
_COUNTED: Final = (
    ("", "Node"),
    ("", "Namespace"),
    (API_GROUP, "Queue"),
    ("resource.k8s.io", "DeviceClass"),
)


def from_files(files: Iterable[str], vendors: VendorTable) -> CardList:
    """The cards of YAML files. Objects of other kinds are skipped. Raises YamlFileError."""
    count = CardCount(vendors)
    documents = read_files(files)
    ours = [d for d in documents if (d.group, d.kind) in _COUNTED]
    inventory = sort_documents(ours)
    count.notes += inventory.notes
    if len(ours) < len(documents):
        others = counted(len(documents) - len(ours), "object")
        count.notes.append(f"{others} of other kinds skipped: they say nothing of cards")
    for node in inventory.nodes:
        count.take_node(node)
    for queue in inventory.queues:
        count.take_queue(queue)
    for namespace in inventory.namespaces:
        count.take_namespace(namespace)
    for device_class in inventory.device_classes:
        count.take_device_class(device_class)
    return count.listed()


async def from_cluster(cluster: ClusterChoice, vendors: VendorTable) -> CardList:
    """The cards of a cluster. Needs the right to list nodes.

    If Queues do not exist as a kind, or the user may not list them, they are left out with a note.
    Namespaces and DeviceClasses that the user may not list are left out without a note.
    Errors: AccessError, ClusterError.
    """
    async with client_of(cluster) as client:
        return await _read(client, CardCount(vendors))


async def _read(client: Client, count: CardCount) -> CardList:
    async for node in listed_objects(client, "/api/v1/nodes", Node):
        if isinstance(node, Unreadable):
            count.leave_out_node(node.name, node.error)
        else:
            count.take_node(node)
    try:
        async for queue in listed_objects(client, f"/apis/{API_GROUP}/{VERSION}/queues", Queue):
            if isinstance(queue, Unreadable):
                count.leave_out_queue(queue.name, queue.error)
            else:
                count.take_queue(queue)
    except ClusterError as error:
        if error.status not in (FORBIDDEN, NOT_FOUND):
            raise
        count.queues_readable = False
        none = "the cluster has no definition of Queue"
        count.notes.append(f"{none if error.status == NOT_FOUND else error}: no quotas are shown")
    await _read_optional(client, count, Namespace, ("/api/v1/namespaces",), count.take_namespace)
    await _read_optional(client, count, DeviceClass, _CLASSES, count.take_device_class)
    return count.listed()


async def _read_optional(
    client: Client,
    count: CardCount,
    struct: type[T],
    paths: Iterable[str],
    take: Callable[[T], None],
) -> None:
    """Read a kind by the first path that is served, if the user may list it."""
    for path in paths:
        try:
            async for found in listed_objects(client, path, struct):
                if not isinstance(found, Unreadable):
                    take(found)
        except ClusterError as error:
            if error.status in (FORBIDDEN, NOT_FOUND):
                continue
            count.notes.append(str(error))
        return

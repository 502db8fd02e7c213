"""`cardquota cards`: read nodes and queues of files, or of a cluster as its user; count, print."""

import asyncio
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Final, TypeVar

import msgspec
from rich.text import Text

from ...cluster.api.access import AccessError
from ...cluster.api.client import Client
from ...cluster.api.find_access import find_access
from ...cluster.watch.listing import Unreadable
from ...quota.cards.vendor_table import VendorTable
from ...quota.objects.cluster import DeviceClass, Namespace
from ...quota.objects.node import Node
from ...quota.objects.queue import Queue
from ...quota.vocabulary import API_GROUP, VERSION
from ...quota.words import counted, listed, show
from ...settings import Settings
from ..output import Output
from ..printing import failed, print_data, print_lines, table
from ..reading import FORBIDDEN, NOT_FOUND, ClusterError
from ..reading import listed as listed_objects
from ..simulate.inventory import sort_documents
from ..simulate.yaml_files import YamlFileError, read_files
from .card_list import CardCount, CardLine, CardList

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
        yield Text("No cards.")
    if found.not_counted:
        yield from _headed("Not counted:")
        yield from _alike((entry["node"], entry["problem"]) for entry in found.not_counted)
    if found.without_row:
        yield from _headed("In no vendor row:")
        yield from _alike((entry["card"], entry["problem"]) for entry in found.without_row)
    if found.unreadable_quotas:
        yield from _headed("Quotas that cannot be read:")
        for entry in found.unreadable_quotas:
            yield Text(f"  {show(entry['queue'])}: {entry['problem']}")
    if found.claimed:
        yield from _headed("Claimed from DeviceClasses:")
        for entry in found.claimed:
            yield Text(f"  {show(entry['device_class'])}: {entry['problem']}")
    if found.unknown_modes:
        yield from _headed("Labels of namespaces that mean nothing:")
        for entry in found.unknown_modes:
            yield Text(f"  {entry['problem']}")


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


async def from_cluster(kubeconfig: Path | None, context: str, vendors: VendorTable) -> CardList:
    """The cards of the cluster that the options select. Needs the right to list nodes.

    If Queues do not exist as a kind, or the user may not list them, they are left out with a note.
    Namespaces and DeviceClasses that the user may not list are left out without a note.
    Errors: AccessError, ClusterError.
    """
    client = Client(await find_access(kubeconfig, context))
    try:
        return await _read(client, CardCount(vendors))
    finally:
        await client.close()


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

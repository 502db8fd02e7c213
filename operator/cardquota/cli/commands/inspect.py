"""`cardquota inspect`: read the cluster, and print its shared cards.

On a terminal each card has a bar. A pipe gets the same columns without it.
"""

import sys
from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict, dataclass, field, replace
from typing import Final, TypeVar

import msgspec
import typer
from rich.text import Text

from ...cluster.watch.listing import Unreadable
from ...quota import vocabulary as v
from ...quota.accounts.queue_facts import queue_facts
from ...quota.cards.vendor_table import VendorTable
from ...quota.ledger.ledger import Ledger
from ...quota.nodes.node_facts import node_facts
from ...quota.objects.node import ConfigMap, Node
from ...quota.objects.pod import Pod
from ...quota.objects.queue import Queue
from ...quota.pods.pod_facts import pod_facts
from ...quota.reports.memory_report import (
    MemoryNodeRow,
    MemoryPodRow,
    MemoryReport,
    SharedCardRow,
    memory_report,
    node_row,
)
from ...quota.steps import to_its_end
from ...quota.words import counted, show
from ...settings import Settings
from ..output import ClusterChoice, ExitCode, Output
from ..printing import in_one_line, print_data, print_lines, table
from ..reading import FORBIDDEN, NOT_FOUND, ClusterError, client_of, done, listed

_COLUMNS: Final = ("NODE", "CARD", "USED/TOTAL", "HEALTH", "PODS")
_WIDTH: Final = 20
"""Characters of a bar."""


def inspect(
    settings: Settings,
    *,
    node: str,
    details: bool,
    cluster: ClusterChoice,
    output: Output,
) -> None:
    """Show the cards. Errors: typer.Exit, if they could not be shown."""
    read = done(read_cluster(cluster, settings.vendor_table))
    report = to_its_end(memory_report(read.ledger))
    if not read.knows_queues:
        report = replace(report, limited=None)
    if node:
        row = node_row(read.ledger, node)
        if row is None:
            sys.stderr.write(f"cardquota: node <{show(node)}>: no node of this name\n")
            raise typer.Exit(ExitCode.FAILED)
        report = MemoryReport((row,), (), {})
    for note in read.notes:
        sys.stderr.write(f"cardquota: {in_one_line(note)}\n")
    if output.is_data:
        print_data(asdict(report.nodes[0] if node else report), output)
    else:
        print_lines(lines(report, details=details, bars=sys.stdout.isatty()))


def lines(report: MemoryReport, *, details: bool, bars: bool) -> Iterator[Text]:
    """The report for people: cards, pods of unknown cards, what is wrong, who waits, the sums."""
    if not report.nodes:
        yield Text("No node shares the memory of its cards.")
    shared = [row for row in report.nodes if row.cards]
    if shared:
        head = (*_COLUMNS, "") if bars else _COLUMNS
        yield from table([head, *(_card(row, card, bars) for row in shared for card in row.cards)])
    for row in report.nodes:
        if not row.cards:
            whole = ", ".join(f"{name} {use}" for name, use in row.whole.items())
            yield Text(f"{show(row.name)}: {row.kind}" + (f", {whole}" if whole else ""))
    if details:
        yield from _details(shared)
    for row in report.nodes:
        for pod in row.unknown:
            yield Text(
                f"{show(row.name)}: the card of {_name(pod)} ({pod.memory} {row.unit}) is not "
                f"known, so every card counts as that much fuller: {pod.problem}",
                style="yellow",
            )
        for problem in row.problems:
            yield Text(f"{show(row.name)}: {problem}", style="yellow")
    if report.pending:
        yield Text()
        yield Text("Pending:")
        rows = [(_name(pod), str(pod.memory), pod.state) for pod in report.pending]
        yield from table([("POD", "MEMORY", "STATE"), *rows])
    yield from _sums(report)


def _sums(report: MemoryReport) -> Iterator[Text]:
    if report.totals:
        yield Text()
    for unit, total in report.totals.items():
        share = 100 * total.used // total.total if total.total else 0
        cards = counted(total.cards, "card")
        yield Text(f"Total: {total.used}/{total.total} {unit} on {cards} ({share} %)")
    if report.totals and report.limited is False:
        yield Text("Not limited: no quota has a row <product>/gpu-mem.", style="yellow")


def _card(row: MemoryNodeRow, card: SharedCardRow, bars: bool) -> tuple[str, ...]:
    health = "healthy" if card.healthy else "broken"
    use = f"{card.used}/{card.total} {row.unit}"
    cells = (show(row.name), str(card.index), use, health, str(len(card.pods)))
    return (*cells, _bar(card)) if bars else cells


def _bar(card: SharedCardRow) -> str:
    filled = min(_WIDTH, -(-_WIDTH * card.used // card.total))
    return "█" * filled + "░" * (_WIDTH - filled)


def _details(rows: Iterable[MemoryNodeRow]) -> Iterator[Text]:
    found = [
        (show(row.name), str(card.index), _name(pod), f"{pod.memory} {row.unit}", pod.state)
        for row in rows
        for card in row.cards
        for pod in card.pods
    ]
    if found:
        yield Text()
        yield from table([("NODE", "CARD", "POD", "MEMORY", "STATE"), *found])


def _name(pod: MemoryPodRow) -> str:
    return show(f"{pod.namespace}/{pod.name}", most=120)


T = TypeVar("T", bound=msgspec.Struct)


@dataclass(slots=True)
class ClusterMemory:
    """What was read, and what was not."""

    ledger: Ledger
    notes: list[str] = field(default_factory=list)
    knows_queues: bool = True
    """Whether the quotas of the queues could be read."""


async def read_cluster(cluster: ClusterChoice, vendors: VendorTable) -> ClusterMemory:
    """Needs the right to list nodes and pods; where queues may not be listed, it is not known
    whether they limit card memory.

    Errors: AccessError, ClusterError.
    """
    ledger = Ledger(vendors)
    found = ClusterMemory(ledger)

    def list_of_broken(lists: ConfigMap) -> None:
        if lists.node:
            ledger.card_memory.unhealthy_seen(lists.node, lists.text)

    async with client_of(cluster) as client:

        async def each(path: str, struct: type[T], take: Callable[[T], None]) -> None:
            async for one in listed(client, path, struct):
                if isinstance(one, Unreadable):
                    what = path.rpartition("/")[2]
                    why = f"{show(one.name)} cannot be read: {show(one.error)}"
                    found.notes.append(f"{what}: {why}")
                else:
                    take(one)

        await each("/api/v1/nodes", Node, lambda x: ledger.node_seen(node_facts(x, vendors)))
        await each("/api/v1/pods", Pod, lambda x: ledger.pod_seen(pod_facts(x)))
        try:
            await each("/api/v1/namespaces/kube-system/configmaps", ConfigMap, list_of_broken)
        except ClusterError as error:
            if error.status != FORBIDDEN:
                raise
            why = str(error.__cause__)
            found.notes.append(f"lists of broken cards in kube-system are left out: {why}")
        try:
            queues = f"/apis/{v.API_GROUP}/{v.VERSION}/queues"
            await each(queues, Queue, lambda x: ledger.queue_seen(queue_facts(x)))
        except ClusterError as error:
            if error.status not in (FORBIDDEN, NOT_FOUND):
                raise
            # Without Queues nothing is limited; those that may not be seen may limit it.
            found.knows_queues = error.status == NOT_FOUND
    return found

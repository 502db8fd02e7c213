"""`cardquota inspect`: read the cluster, and print its shared cards.

On a terminal each card has a bar. A pipe gets the same columns without it.
"""

import sys
from collections.abc import Iterable, Iterator
from dataclasses import asdict, replace
from typing import Final

import typer
from rich.text import Text

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
from ..printing import bar, in_one_line, print_data, print_lines, table
from ..read_ledger import ReadLedger, empty_ledger, kinds_of
from ..reading import FORBIDDEN, client_of, done

_COLUMNS: Final = ("NODE", "CARD", "USED/TOTAL", "HEALTH", "PODS")


def inspect(
    settings: Settings,
    *,
    node: str,
    details: bool,
    cluster: ClusterChoice,
    output: Output,
) -> None:
    """Show the cards. Errors: typer.Exit, if they could not be shown."""
    read = done(read_cluster(cluster, settings))
    report = to_its_end(memory_report(read.ledger))
    queues, broken = read.unread.get("queues"), read.unread.get("configmaps")
    # Without Queues nothing is limited; those that may not be seen may limit it.
    if queues is not None and queues.status == FORBIDDEN:
        report = replace(report, limited=None)
    if node:
        row = node_row(read.ledger, node)
        if row is None:
            sys.stderr.write(f"cardquota: node <{show(node)}>: no node of this name\n")
            raise typer.Exit(ExitCode.FAILED)
        report = MemoryReport((row,), (), {})
    notes = list(map(str, read.unreadable))
    if broken is not None:
        why = broken.__cause__
        notes.append(f"lists of broken cards in kube-system are left out: {why}")
    for note in notes:
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
    return (*cells, bar(card.used, card.total)) if bars else cells


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


async def read_cluster(cluster: ClusterChoice, settings: Settings) -> ReadLedger:
    """Needs the right to list nodes and pods; where queues may not be listed, it is not known
    whether they limit card memory. Errors: AccessError, ClusterError.
    """
    found = ReadLedger(empty_ledger(settings))
    kinds = kinds_of(found.ledger)
    async with client_of(cluster) as client:
        for name in ("nodes", "pods", "configmaps", "queues"):
            await found.read(client, kinds[name])
    found.need("nodes", "pods")
    return found

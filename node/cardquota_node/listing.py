"""The cards of a node, and who has them, as a table for people or as data for programs."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from .inventory import NodeCard

_HEAD = ("INDEX", "UUID", "CARD", "MEMORY", "USED", "BUSY", "MIG", "HEALTH", "PROCESSES")
_SHOWN = 4
"""Processes of a card that the table shows."""


def as_table(cards: Sequence[NodeCard]) -> Iterator[str]:
    """A head, and a line for each card; memory in MiB."""
    return _table([_HEAD, *map(_row, cards)])


def _table(rows: Sequence[Sequence[str]]) -> Iterator[str]:
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        cells = (cell.ljust(width) for cell, width in zip(row, widths, strict=True))
        yield "   ".join(cells).rstrip()


def _row(card: NodeCard) -> tuple[str, ...]:
    more = len(card.processes) - _SHOWN
    users = [_process(pid, memory) for pid, memory in card.processes[:_SHOWN]]
    users += [f"and {more} more"] if more > 0 else []
    slices = f" ({len(card.slices)} slices)" if card.slices else ""
    return (
        str(card.index),
        card.uuid or "-",
        card.product or "-",
        f"{card.memory} MiB",
        f"{card.used} MiB",
        "-" if card.utilization is None else f"{card.utilization} %",
        card.mig + slices,
        card.problem or "healthy",
        ", ".join(users) or "none",
    )


def _process(pid: int, memory: int | None) -> str:
    return f"{pid}" if memory is None else f"{pid} ({memory} MiB)"


def as_data(cards: Sequence[NodeCard]) -> list[dict[str, object]]:
    """Plain data; memory in MiB."""
    return [
        {
            "index": card.index,
            "uuid": card.uuid,
            "product": card.product,
            "path": card.path,
            "memory": card.memory,
            "used": card.used,
            "utilization": card.utilization,
            "mig": card.mig.value,
            "slices": list(card.slices),
            "healthy": card.healthy,
            "problem": card.problem,
            "processes": [{"pid": one.pid, "memory": one.memory} for one in card.processes],
        }
        for card in cards
    ]


class Allocation(NamedTuple):
    """A container that has memory of a card, or slots."""

    namespace: str
    pod: str
    container: str
    amount: int
    """In the node's unit, or slots."""
    card: str
    """Its index, or several with commas; empty: the container was not started yet, or by another
    agent."""
    uuid: str


def allocations_table(found: Sequence[Allocation]) -> Iterator[str]:
    """A head, and a line for each container."""
    head = ("NAMESPACE", "POD", "CONTAINER", "AMOUNT", "CARD", "UUID")
    return _table([head, *([str(value) or "-" for value in row] for row in found)])


def allocations_data(found: Sequence[Allocation]) -> list[dict[str, object]]:
    """Plain data."""
    return [row._asdict() for row in found]

"""What people see of card memory: each node, its cards, who holds what, and the sums.

Amounts are in a node's own unit. Sums are kept apart by unit, and are never added up.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Final

from ..cards.card_memory import MemoryNode
from ..ledger.ledger_reader import LedgerReader
from ..pods.pod_facts import memory_of
from ..steps import Steps
from ..vocabulary import GPU_MEMORY

_PODS: Final = 1_000
"""Pods that one step looks at."""


@dataclass(frozen=True, slots=True)
class MemoryPodRow:
    """A pod that holds, or asks for, card memory."""

    namespace: str
    name: str
    memory: int
    state: str = ""
    """`binding`, `assumed` (bound, and its device plugin has not started it), `assigned`,
    `terminating`; of a pending pod `gated` or `pending`."""
    problem: str = ""
    """Why its card is not known."""


@dataclass(frozen=True, slots=True)
class SharedCardRow:
    """One card."""

    index: int
    total: int
    used: int
    healthy: bool
    pods: tuple[MemoryPodRow, ...]


@dataclass(frozen=True, slots=True)
class MemoryNodeRow:
    """One node."""

    name: str
    kind: str
    unit: str = ""
    product: str = ""
    total: int = 0
    used: int = 0
    cards: tuple[SharedCardRow, ...] = ()
    unknown: tuple[MemoryPodRow, ...] = ()
    """Pods whose card is not known: they count against every card."""
    problems: tuple[str, ...] = ()
    whole: dict[str, str] = field(default_factory=dict)
    """By resource name of cards that it offers otherwise: `used/total`."""


@dataclass(frozen=True, slots=True)
class UnitTotal:
    """What nodes with one unit have together."""

    cards: int = 0
    total: int = 0
    used: int = 0


@dataclass(frozen=True, slots=True)
class MemoryReport:
    """The whole cluster."""

    nodes: tuple[MemoryNodeRow, ...]
    """Those that share card memory, or on which pods hold some; by name."""
    pending: tuple[MemoryPodRow, ...]
    """Pods without a node that ask for card memory; by name."""
    totals: dict[str, UnitTotal]
    """By unit."""
    limited: bool | None = None
    """Whether quotas limit card memory: some queue has a row for it (B10). None if it is not known,
    or not asked for."""


def memory_report(ledger: LedgerReader) -> Steps[MemoryReport]:
    """In short steps: each looks at some nodes or pods as they are then."""
    rows, totals = list[MemoryNodeRow](), dict[str, UnitTotal]()
    for name in sorted(ledger.card_memory.nodes):
        node = ledger.card_memory.nodes.get(name)
        if node is None or (node.shape is None and not node.pods):
            continue
        row = _row(ledger, name, node)
        rows.append(row)
        if row.unit:
            old = totals.get(row.unit, UnitTotal())
            totals[row.unit] = UnitTotal(
                old.cards + len(row.cards), old.total + row.total, old.used + row.used
            )
        yield
    pending = list[MemoryPodRow]()
    for number, record in enumerate(list(ledger.pods.values())):
        if number % _PODS == 0:
            yield
        facts = record.facts
        need = 0 if facts.node else memory_of(facts.devices)
        if need and facts.uid not in ledger.card_memory.assumed:
            state = "gated" if record.gated else "pending"
            pending.append(MemoryPodRow(facts.namespace, facts.name, need, state))
    limited = ledger.counts(GPU_MEMORY)
    return MemoryReport(tuple(rows), _sorted(pending), totals, limited)


def unlimited_use(ledger: LedgerReader) -> dict[str, tuple[int, int]]:
    """By unit: how many pods hold card memory that no quota limits, and how much (B10). Zeros while
    some quota has a row for it. The unit is empty of nodes that do not say it.

    Costs one step for each node on which pods may hold some.
    """
    found: dict[str, tuple[int, int]] = {}
    limited = ledger.counts(GPU_MEMORY)
    for node in ledger.card_memory.nodes.values():
        shape = node.shape
        if shape is None and not node.pods:
            continue
        unit = shape.unit.value if shape is not None and shape.sizes else ""
        pods, held = found.get(unit, (0, 0))
        more = (0, 0) if limited else (len(node.pods), node.held)
        found[unit] = pods + more[0], held + more[1]
    return found


def node_row(ledger: LedgerReader, name: str) -> MemoryNodeRow | None:
    """One node, by whatever it gives out its cards; None if it is not known."""
    node = ledger.card_memory.nodes.get(name)
    return None if node is None or not node.known else _row(ledger, name, node)


def _row(ledger: LedgerReader, name: str, node: MemoryNode) -> MemoryNodeRow:
    shape = node.shape
    sizes = shape.sizes if shape is not None else ()
    by_card: dict[int, list[MemoryPodRow]] = {}
    for uid in node.pods:
        by_card.setdefault(node.card_of(uid), []).append(_pod_row(node, uid))
    cards = tuple(
        SharedCardRow(i, size, node.used[i], i not in node.broken, _sorted(by_card.get(i, ())))
        for i, size in enumerate(sizes)
    )
    return MemoryNodeRow(
        name,
        node.kind.value if node.known else "gone",
        shape.unit.value if shape is not None and sizes else "",
        ledger.nodes.product_of(name),
        sum(sizes),
        node.held,
        cards,
        _sorted(by_card.get(-1, ())),
        tuple(ledger.card_memory.problems(name)),
        ledger.nodes.whole_cards(name, node.whole),
    )


def _sorted(rows: Iterable[MemoryPodRow]) -> tuple[MemoryPodRow, ...]:
    return tuple(sorted(rows, key=lambda row: (row.namespace, row.name)))


def _pod_row(node: MemoryNode, uid: str) -> MemoryPodRow:
    pod = node.pods[uid]
    placement = pod.placement
    if pod.assumed:
        state = "binding"
    elif pod.terminating:
        state = "terminating"
    else:
        state = "assigned" if placement.assigned else "assumed"
    problem = placement.problem
    if not problem and node.card_of(uid) < 0:
        problem = f"the node has no card <{placement.card}>"
    return MemoryPodRow(pod.namespace, pod.name, placement.amount, state, problem)

"""What people see of card memory: each node, its cards, who holds what, and the sums.

Amounts are in a node's own unit. Sums are kept apart by unit, and are never added up.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field

from ..card_memory.memory_node import MemoryNode
from ..ledger.ledger_reader import LedgerReader
from ..pods.pod_facts import memory_of


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


def memory_report(ledger: LedgerReader) -> MemoryReport:
    """Costs O(nodes and pods): for people, not for every pod."""
    rows = [
        _row(ledger, name, node)
        for name, node in sorted(ledger.card_memory.nodes.items())
        if node.shape is not None or node.pods
    ]
    totals: dict[str, UnitTotal] = {}
    for row in rows:
        if row.unit:
            old = totals.get(row.unit, UnitTotal())
            totals[row.unit] = UnitTotal(
                old.cards + len(row.cards), old.total + row.total, old.used + row.used
            )
    return MemoryReport(tuple(rows), tuple(_pending(ledger)), totals)


def node_row(ledger: LedgerReader, name: str) -> MemoryNodeRow | None:
    """One node, by whatever it gives out its cards; None if it is not known."""
    node = ledger.card_memory.get(name)
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


def _pending(ledger: LedgerReader) -> tuple[MemoryPodRow, ...]:
    return _sorted(
        MemoryPodRow(
            record.facts.namespace,
            record.facts.name,
            memory_of(record.facts.devices),
            "gated" if record.gated else "pending",
        )
        for record in ledger.pods.values()
        if not record.facts.node
        and memory_of(record.facts.devices)
        and record.facts.uid not in ledger.card_memory.assumed
    )

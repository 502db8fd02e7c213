"""Which of the nodes that kube-scheduler names a pod may go to, and why not to the others.

Pure: asking changes nothing, so it may be asked again for one pod, and on any replica. A pod by
memory fits where one healthy card has room. A pod by card goes to no node whose cards are shared.

What only a change of the node or of the pod can cure is *unresolvable*: kube-scheduler need not try
there to preempt others. What pods that end would cure is *failed*.
"""

from collections.abc import Iterable
from typing import Final, NamedTuple

from ..card_memory.card_memory import CardMemory
from ..card_memory.memory_node import MemoryNode, NodeKind
from ..ledger.ledger_reader import LedgerReader
from ..messages import scheduling_messages as m
from ..nodes.node_cache import NodeCache
from ..pods.pod_facts import PodFacts, memory_of
from ..vocabulary import GPU_MEMORY
from .card_choice import CardChoice, card_choice

_NO_ROOM: Final = -1


class NodeFit(NamedTuple):
    """The nodes that fit, in the order in which they were named, and the others with the reason."""

    names: list[str]
    failed: dict[str, str]
    unresolvable: dict[str, str]
    unknown: bool = False
    """Whether some of these are nodes that no watch has told of."""


def fit_nodes(ledger: LedgerReader, facts: PodFacts, names: Iterable[str]) -> NodeFit:
    """Costs one lookup for each node that fits, and a few more for each other one."""
    problem, need = request_problem(ledger, facts), memory_of(facts.devices)
    if problem:
        return NodeFit([], {}, dict.fromkeys(names, problem))
    memory = ledger.card_memory
    if not need:
        fit, choice = _by_card(memory, names), card_choice(ledger, facts)
        return fit if choice is None else _of_choice(ledger.nodes, choice, fit)
    room, fits, rest = memory.room.get, list[str](), list[str]()
    for name in names:
        (fits if room(name, _NO_ROOM) >= need else rest).append(name)
    failed, unresolvable = dict[str, str](), dict[str, str]()
    known, get = dict[int, tuple[str, bool]](), memory.nodes.get
    for name in rest:
        node = get(name)
        # Nodes of a pool are refused for the same reason: it is worked out once.
        key = -1 if node is None else 2 * node.likeness + (node.largest < need)
        found = known.get(key)
        if found is None:
            found = known[key] = why_no_memory(node, need)
        (failed if found[1] else unresolvable)[name] = found[0]
    return NodeFit(fits, failed, unresolvable, -1 in known)


def request_problem(ledger: LedgerReader, facts: PodFacts) -> str:
    """Why a pod fits nowhere, whatever the nodes are; empty if it may fit."""
    if not facts.devices:
        return m.request_unreadable(facts.problem) if facts.problem else ""
    if not memory_of(facts.devices):
        return ""
    others = any(name != GPU_MEMORY and ledger.counts(name) for name, _ in facts.devices)
    return m.BOTH_ASKED if others else ""


def why_no_memory(node: MemoryNode | None, need: int) -> tuple[str, bool]:
    """Why no card of a node has room, and whether pods that end could cure it."""
    if node is None or not node.known:
        return m.NODE_UNKNOWN, False
    shape = node.shape
    if node.kind is NodeKind.MIXED:
        return m.MIXED, shape is not None
    if node.kind is NodeKind.BY_CARD:
        return m.BY_CARD, shape is not None
    if shape is None:
        return m.NO_MEMORY, False
    if not shape.sizes:
        return m.CARDS_UNREADABLE, False
    if node.largest < need:
        return m.no_card_so_large(need, shape.unit), False
    return m.no_card_free(need, shape.unit), True


def why_no_cards(node: MemoryNode | None) -> tuple[str, bool]:
    """Why a node takes no pods by card, and whether pods that end could cure it."""
    if node is None or not node.known:
        return m.NODE_UNKNOWN, False
    curable = bool(node.whole)
    return (m.MIXED if node.kind is NodeKind.MIXED else m.BY_MEMORY), curable


def _of_choice(nodes: NodeCache, choice: CardChoice, fit: NodeFit) -> NodeFit:
    """Of these nodes, those with a card that is open to the pod (E3). Pods that end elsewhere could
    open others, but whose they are kube-scheduler does not know: it shall end none for that.
    """
    names, unresolvable = list[str](), dict(fit.unresolvable)
    why: dict[str | None, str] = {c: m.quota_taken(c) for c in choice.cards - choice.open}
    cards, is_open = nodes.cards_of(fit.names, choice.resource), choice.open
    for name, card in zip(fit.names, cards, strict=True):
        if card in is_open:
            names.append(name)
        else:
            unresolvable[name] = why.get(card, m.NO_CARD_OF_CHOICE)
    return fit._replace(names=names, unresolvable=unresolvable)


def _by_card(memory: CardMemory, names: Iterable[str]) -> NodeFit:
    closed, get = memory.closed_to_cards, memory.nodes.get
    fits, failed, unresolvable = list[str](), dict[str, str](), dict[str, str]()
    unknown = False
    for name in names:
        node = get(name)
        if node is not None and node.known and name not in closed:
            fits.append(name)
        else:
            unknown = unknown or node is None
            why, curable = why_no_cards(node)
            (failed if curable else unresolvable)[name] = why
    return NodeFit(fits, failed, unresolvable, unknown)

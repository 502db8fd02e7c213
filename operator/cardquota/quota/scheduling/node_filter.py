"""Which of the nodes that kube-scheduler names a pod may go to, and why not to the others.

Pure: asking changes nothing, so it may be asked again for one pod, and on any replica. A pod by
memory fits where one healthy card has room. A pod by card goes to no node whose cards are shared.

What only a change of the node or of the pod can cure is *unresolvable*: kube-scheduler need not try
there to preempt others. What pods that end would cure is *failed*.
"""

from collections.abc import Sequence
from itertools import repeat
from typing import Final, NamedTuple

from ..card_memory.card_memory import CardMemory
from ..card_memory.memory_node import MemoryNode, NodeKind
from ..ledger.ledger_reader import LedgerReader
from ..messages import scheduling_messages as m
from ..nodes.node_cache import NodeCache
from ..pods.pod_facts import PodFacts, memory_of
from ..vocabulary import GPU_MEMORY
from .card_choice import CardChoice, card_choice, open_cards

_NO_ROOM: Final = -1


class NodeFit(NamedTuple):
    """The nodes that fit, in the order in which they were named, and the others with the reason."""

    names: list[str]
    failed: dict[str, str]
    unresolvable: dict[str, str]
    unknown: bool = False
    """Whether some of these are nodes that no watch has told of."""


def fit_nodes(ledger: LedgerReader, facts: PodFacts, names: Sequence[str]) -> NodeFit:
    """Costs one lookup for each node that fits, and a few more for each other one."""
    problem, need = request_problem(ledger, facts), memory_of(facts.devices)
    if problem:
        return NodeFit([], {}, dict.fromkeys(names, problem))
    memory = ledger.card_memory
    fit = _by_memory(memory, need, names) if need else _by_card(memory, names)
    choice = card_choice(ledger, facts)
    if choice is None:
        return fit
    return _of_choice(ledger.nodes, choice, open_cards(ledger, facts, choice), fit)


def _by_memory(memory: CardMemory, need: int, names: Sequence[str]) -> NodeFit:
    room = memory.room.get
    rooms = list(map(room, names, repeat(_NO_ROOM)))
    some_fit = max(rooms, default=_NO_ROOM) >= need
    fits = [n for n, most in zip(names, rooms, strict=True) if most >= need] if some_fit else []
    if len(fits) == len(names):
        return NodeFit(fits, {}, {})
    rest = [name for name, most in zip(names, rooms, strict=True) if most < need] if fits else names
    # Nodes of a pool are refused for the same reason: it is worked out once.
    kinds = list(map(memory.refusal_kinds.get, rest))
    alike = len(set(kinds)) == 1
    some = {kinds[0]: rest[0]} if alike else dict(zip(kinds, rest, strict=True))
    why = {kind: why_no_memory(memory.get(name), need) for kind, name in some.items()}
    failed, unresolvable = dict[str, str](), dict[str, str]()
    if alike:
        ((text, curable),) = why.values()
        all_of_them = dict.fromkeys(rest, text)
        failed, unresolvable = (all_of_them, {}) if curable else ({}, all_of_them)
    else:
        for name, kind in zip(rest, kinds, strict=True):
            text, curable = why[kind]
            (failed if curable else unresolvable)[name] = text
    return NodeFit(fits, failed, unresolvable, None in why)


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


def _of_choice(
    nodes: NodeCache, choice: CardChoice, is_open: frozenset[str], fit: NodeFit
) -> NodeFit:
    """Of these nodes, those with a card that is open to the pod (E3). Pods that end elsewhere could
    open others, but whose they are kube-scheduler does not know: it shall end none for that.
    """
    why: dict[str | None, str] = {c: m.quota_taken(c) for c in choice.cards - is_open}
    cards = nodes.cards_of(fit.names, choice.resource)
    if is_open.issuperset(cards):
        return fit
    found = list(zip(fit.names, cards, strict=True))
    names = [name for name, card in found if card in is_open]
    closed = {n: why.get(c, m.NO_CARD_OF_CHOICE) for n, c in found if c not in is_open}
    unresolvable = {**fit.unresolvable, **closed}
    return fit._replace(names=names, unresolvable=unresolvable)


def _by_card(memory: CardMemory, names: Sequence[str]) -> NodeFit:
    is_open, get = memory.open_to_cards, memory.nodes.get
    fits = [name for name in names if name in is_open]
    if len(fits) == len(names):
        return NodeFit(fits, {}, {})
    failed, unresolvable, unknown = dict[str, str](), dict[str, str](), False
    for name in names:
        if name in is_open:
            continue
        node = get(name)
        unknown = unknown or node is None
        why, curable = why_no_cards(node)
        (failed if curable else unresolvable)[name] = why
    return NodeFit(fits, failed, unresolvable, unknown)

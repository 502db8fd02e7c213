"""Which of the nodes that kube-scheduler names a pod may go to, and why not to the others.

Pure: asking changes nothing, so it may be asked again for one pod, and on any replica. A pod by
memory fits where one healthy card has room. A pod by card goes to no node whose cards are shared.

What only a change of the node or of the pod can cure is *unresolvable*: kube-scheduler need not try
there to preempt others. What pods that end would cure is *failed*.
"""

from collections.abc import Mapping, Sequence
from operator import itemgetter
from typing import NamedTuple

from ..quota.cards.memory_node import UNHEARD, MemoryNode, NodeKind, least_key, reason_of
from ..quota.cards.shared_memory import CardMemory
from ..quota.ledger.ledger_reader import LedgerReader
from ..quota.messages import binding_messages as m
from ..quota.pods.pod_facts import PodFacts, memory_of
from ..quota.vocabulary import GPU_MEMORY, Mode


class NodeFit(NamedTuple):
    """The nodes that fit, in the order in which they were named, and the others with the reason."""

    names: list[str]
    failed: dict[str, str]
    unresolvable: dict[str, str]
    unknown: bool = False
    """Whether some of these are nodes that no watch has told of."""


def fit_nodes(ledger: LedgerReader, facts: PodFacts, names: Sequence[str]) -> NodeFit:
    """Costs one lookup for each node."""
    problem, need = request_problem(ledger, facts), memory_of(facts.devices)
    if problem:
        return NodeFit([], {}, dict.fromkeys(names, problem))
    memory = ledger.card_memory
    return _by_memory(memory, need, names) if need else _by_card(memory, names)


def _by_memory(memory: CardMemory, need: int, names: Sequence[str]) -> NodeFit:
    keys, least = _keys(memory.fit_keys, names), least_key(need)
    rest, fits = names, list[str]()
    if max(keys, default=least) >= least:
        if min(keys, default=least) >= least:
            return NodeFit(list(names), {}, {})
        fits = [name for name, key in zip(names, keys, strict=True) if key >= least]
        rest = [name for name, key in zip(names, keys, strict=True) if key < least]
        keys = [key for key in keys if key < least]
    # Nodes of a pool are refused for the same reason: it is worked out once.
    alike = len(set(keys)) == 1
    some = {keys[0]: rest[0]} if alike else dict(zip(keys, rest, strict=True))
    by_reason = {reason_of(key): name for key, name in some.items()}
    found = {r: why_no_memory(memory.get(name), need) for r, name in by_reason.items()}
    why = {key: found[reason_of(key)] for key in some}
    failed, unresolvable = dict[str, str](), dict[str, str]()
    if len(found) == 1:
        ((text, curable),) = found.values()
        (failed if curable else unresolvable).update(dict.fromkeys(rest, text))
    else:
        for name, key in zip(rest, keys, strict=True):
            text, curable = why[key]
            (failed if curable else unresolvable)[name] = text
    return NodeFit(fits, failed, unresolvable, UNHEARD in why)


def _keys(known: Mapping[str, int], names: Sequence[str]) -> Sequence[int]:
    """The key of each node. The first way costs half as much, and fails for what is unheard of."""
    try:
        return itemgetter(*names)(known) if len(names) > 1 else [known[name] for name in names]
    except KeyError:
        return [known.get(name, UNHEARD) for name in names]


def request_problem(ledger: LedgerReader, facts: PodFacts) -> str:
    """Why a pod fits nowhere, whatever the nodes are; empty if it may fit."""
    if not facts.devices:
        return m.request_unreadable(facts.problem) if facts.problem else ""
    if not memory_of(facts.devices):
        return ""
    # Without a decision of ours no row allows it. Where nothing is enforced, none is needed.
    undecided = ledger.settings.memory_by_row and facts.stamp is None
    if undecided and ledger.mode_in(facts.namespace) is Mode.ENFORCE:
        return m.NO_MEMORY_ROW
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


def _by_card(memory: CardMemory, names: Sequence[str]) -> NodeFit:
    is_open, get = memory.open_to_cards, memory.nodes.get
    if is_open.issuperset(names):
        return NodeFit(list(names), {}, {})
    fits = [name for name in names if name in is_open]
    failed, unresolvable, unknown = dict[str, str](), dict[str, str](), False
    for name in names:
        if name in is_open:
            continue
        node = get(name)
        unknown = unknown or node is None
        why, curable = why_no_cards(node)
        (failed if curable else unresolvable)[name] = why
    return NodeFit(fits, failed, unresolvable, unknown)

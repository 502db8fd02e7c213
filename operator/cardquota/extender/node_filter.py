"""Which of the nodes that kube-scheduler names a pod may go to, and why not to the others; and
which of the pods that it would end really free one card for a pod by memory.

Pure: asking changes nothing, so it may be asked again for one pod, and on any replica. A pod by
memory fits where one healthy card has room. A pod by card goes to no node whose cards are shared.

What only a change of the node or of the pod can cure is *unresolvable*: kube-scheduler need not try
there to preempt others. What pods that end would cure is *failed*.

kube-scheduler ends pods until the *sum* of a node's memory is enough. One card may still have no
room, and then pods would have ended in vain. So of the pods that it names, those of one card are
taken: no more than make room there, the least important first, as it names them. A node on which no
card gets room is left out, and so is one that has room by now: kube-scheduler takes an empty list
of victims for a fault of the extender, and stops. Nothing here ends a pod.
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from ..quota.cards.card_memory import CardMemory, MemoryNode, NodeKind
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
    error: str = ""
    """Why nothing is known of any node; empty if it is."""


def fit_nodes(ledger: LedgerReader, facts: PodFacts, names: Sequence[str]) -> NodeFit:
    """Costs one lookup for each node."""
    problem, need = request_problem(ledger, facts), memory_of(facts.devices)
    if problem:
        return NodeFit([], {}, dict.fromkeys(names, problem))
    memory = ledger.card_memory
    return _by_memory(memory, need, names) if need else _by_card(memory, names)


def _by_memory(memory: CardMemory, need: int, names: Sequence[str]) -> NodeFit:
    ranks, nodes = memory.ranks, memory.nodes
    fits = [name for name in names if name in ranks and ranks[name][0] >= need]
    if len(fits) == len(names):
        return NodeFit(fits, {}, {})
    failed, unresolvable, chosen = dict[str, str](), dict[str, str](), set(fits)
    why: dict[object, tuple[str, bool]] = {}
    last, text, refused = object(), "", failed
    for name in [name for name in names if name not in chosen] if fits else names:
        likeness = nodes[name].likeness if name in nodes else None
        if likeness is not last:  # nodes of a pool are refused for the same reason
            last = likeness
            if likeness not in why:
                why[likeness] = why_no_memory(nodes.get(name), need)
            text, curable = why[likeness]
            refused = failed if curable else unresolvable
        refused[name] = text
    return NodeFit(fits, failed, unresolvable, None in why)


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


def victims_by_node(
    ledger: LedgerReader, facts: PodFacts, proposed: Mapping[str, Sequence[str]]
) -> dict[str, list[str]]:
    """By node: the uids that are to end, in the proposed order; never an empty list.

    `proposed`: kube-scheduler's choice by node, the most important pods first, as it sorts them.
    Only pods that it named are ever chosen: others may be more important.
    """
    if request_problem(ledger, facts):
        return {}
    need, found = memory_of(facts.devices), dict[str, list[str]]()
    for name, uids in proposed.items():
        memory = ledger.card_memory
        if not need:
            chosen = list(uids) if name in memory.open_to_cards else []
        else:
            chosen = _victims(memory.nodes.get(name), need, uids)
        if chosen:
            found[name] = chosen
    return found


def _victims(node: MemoryNode | None, need: int, uids: Sequence[str]) -> list[str]:
    """The smallest set on one card; empty if no card of the node gets room, or one has it."""
    if node is None or not node.known or not node.takes_memory or node.shape is None:
        return []
    if node.best >= need:
        return []
    here = [uid for uid in uids if uid in node.pods]
    best: list[str] | None = None
    for card, size in enumerate(node.shape.sizes):
        if card in node.broken or size < need:
            continue
        chosen = _of_card(node, card, need, here)
        if chosen is not None and (best is None or len(chosen) < len(best)):
            best = chosen
    wanted = set(best or ())
    return [uid for uid in uids if uid in wanted]


def _of_card(node: MemoryNode, card: int, need: int, here: Sequence[str]) -> list[str] | None:
    """Of the proposed pods those on a card that must end; None if they do not suffice.

    The least important come first; then whoever turns out not to be needed is let off, the most
    important first, as kube-scheduler does. Pods whose card is not known count as on every card.
    """
    shape = node.shape
    missing = need - (shape.sizes[card] if shape else 0) + node.used[card] + node.unknown
    in_all = need - (shape.allocatable if shape else 0) + node.held
    missing = max(missing, in_all)
    chosen = list[str]()
    for uid in reversed(here):
        if missing <= 0:
            break
        if node.card_of(uid) in (card, -1):
            chosen.append(uid)
            missing -= node.pods[uid].placement.amount
    if missing > 0:
        return None
    spare = -missing
    for uid in reversed(tuple(chosen)):
        amount = node.pods[uid].placement.amount
        if amount <= spare:
            chosen.remove(uid)
            spare -= amount
    return chosen

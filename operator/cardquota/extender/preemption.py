"""Which of the pods that kube-scheduler would end really free one card for a pod by memory.

kube-scheduler ends pods until the *sum* of a node's memory is enough. One card may still have no
room, and then pods would have ended in vain. So of the pods that it names, those of one card are
taken: no more than make room there, the least important first, as it names them.

A node on which no card gets room is left out, and so is one that has room by now: kube-scheduler
takes an empty list of victims for a fault of the extender, and stops. Nothing here ends a pod.
"""

from collections.abc import Mapping, Sequence

from ..quota.cards.card_memory import MemoryNode
from ..quota.ledger.ledger_reader import LedgerReader
from ..quota.pods.pod_facts import PodFacts, memory_of
from .node_filter import request_problem


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

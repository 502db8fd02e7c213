"""Which of the nodes that fit is best, as scores from 0 to 10.

Only the best node gets 10, so that kube-scheduler, which picks one of equal nodes at random, has no
choice: the answer is the same every time. The others follow by how full they are.

Binpack, in this order:
- by memory: nodes in use before empty ones; then the node on whose card least is left over; then
  the name. The rule for the card on the node is the same (`MemoryNode.card_for`).
- by card: the user's order of alternatives; then nodes without slices and shares, which are kept
  for those who ask for them; then nodes in use before empty ones; then the node on which least is
  left over; then the name.

Spread is the same from its other end, after the user's order and what is kept for others.
"""

from bisect import bisect_left
from collections.abc import Sequence
from typing import Final

from ..cards.card import CardNameError, read_alternatives
from ..ledger.ledger_reader import LedgerReader
from ..nodes.free_cards import NodeUse
from ..pods.pod_facts import PodFacts, memory_of

BEST: Final = 10
"""kube-scheduler's highest score of an extender."""
_MOST: Final = BEST - 1
_EMPTY: Final = 2**64
"""More than any amount: added to nodes that come after all others."""
_Key = tuple[int, int, int, int, str]
"""The smallest is best."""


def rank_nodes(
    ledger: LedgerReader, facts: PodFacts, names: Sequence[str], *, spread: bool = False
) -> list[int]:
    """One score for each name, in order. A node that does not fit, or is not known, has 0."""
    need = memory_of(facts.devices)
    if need:
        return _by_memory(ledger, need, names, spread=spread)
    devices = [(name, amount) for name, amount in facts.devices if ledger.counts(name)]
    if len(devices) != 1:
        return [0] * len(names)
    return _by_card(ledger, facts, devices[0], names, spread=spread)


def _by_memory(ledger: LedgerReader, need: int, names: Sequence[str], *, spread: bool) -> list[int]:
    """Thousands of nodes in every call: so numbers are compared, and names only of equal ones."""
    get, find = ledger.card_memory.nodes.get, bisect_left
    best, at, scores = 2 * _EMPTY, -1, [0] * len(names)
    for i, name in enumerate(names):
        node = get(name)
        if node is None:
            continue
        free = node.in_order
        place = find(free, need)
        if place == len(free):
            continue
        if spread:
            scores[i] = _MOST - node.fullness
            key = -free[-1] + (_EMPTY if node.held else 0)
        else:
            scores[i] = node.fullness
            key = free[place] if node.held else free[place] + _EMPTY
        if key <= best and (key < best or name < names[at]):
            best, at = key, i
    if at >= 0:
        scores[at] = BEST
    return scores


def _by_card(
    ledger: LedgerReader,
    facts: PodFacts,
    asked: tuple[str, int],
    names: Sequence[str],
    *,
    spread: bool,
) -> list[int]:
    resource, need = asked
    free, order, sign = ledger.nodes.free, _order(facts), -1 if spread else 1
    best: _Key | None = None
    place, scores = -1, list[int]()
    for i, name in enumerate(names):
        use = free.use_of(name, resource)
        if use is None or use.offered - use.used < need:
            scores.append(0)
            continue
        wish = order.get(use.card, len(order))
        kept = int(use.others and use.whole)
        left = use.offered - use.used - need
        key = (wish, kept, -sign if use.in_use else 0, sign * left, name)
        if best is None or key < best:
            best, place = key, i
        scores.append(_score(use, wish, kept, spread=spread))
    if place >= 0:
        scores[place] = BEST
    return scores


def _score(use: NodeUse, wish: int, kept: int, *, spread: bool) -> int:
    """Fuller is better; a later wish and a node that is kept for others is worse than all."""
    full = _fullness(use.used, use.offered, spread=spread)
    return max(0, full // (1 + wish + kept))


def _fullness(used: int, total: int, *, spread: bool) -> int:
    full = _MOST * min(used, total) // total if total else 0
    return _MOST - full if spread else full


def _order(facts: PodFacts) -> dict[str, int]:
    """The place of each card in the user's list."""
    if facts.card_text is None:
        return {}
    try:
        return {card: place for place, card in enumerate(read_alternatives(facts.card_text))}
    except CardNameError:
        return {}

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
from ..pods.pod_facts import PodFacts, memory_of

BEST: Final = 10
"""kube-scheduler's highest score of an extender."""
_MOST: Final = BEST - 1
_EMPTY: Final = 2**64
"""More than any amount: added to nodes that come after all others."""


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
    rank_of, find = ledger.card_memory.ranks.get, bisect_left
    best, at, scores = 2 * _EMPTY, -1, [0] * len(names)
    for i, name in enumerate(names):
        rank = rank_of(name)
        if rank is None:
            continue
        most, free, fullness, held = rank
        if most < need or (not held and best < _EMPTY and not spread):
            continue  # it does not fit, or is empty and one in use was found that fits
        place = find(free, need)
        if spread:
            scores[i] = _MOST - fullness
            key = -free[-1] + (_EMPTY if held else 0)
        else:
            scores[i] = fullness
            key = free[place] if held else free[place] + _EMPTY
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
    """One number says how good a node is, and the smallest wins: in thousands of nodes tuples would
    cost more than all else.
    """
    resource, need = asked
    offers, used_of, order = ledger.nodes.free.offers.get, ledger.nodes.free.used.get, _order(facts)
    best, at, scores = 2**200, -1, [0] * len(names)
    for i, name in enumerate(names):
        offered, others, found = 0, 0, None
        for card, amount in offers(name, ()):
            if card.resource == resource:
                found, offered = card.name, amount
            elif amount:
                others = 1
        if found is None:
            continue
        in_use = used_of(name)
        used = in_use.get(resource, 0) if in_use else 0
        left = offered - used - need
        if left < 0:
            continue
        behind = 2 * order.get(found, len(order))
        if others and "/" not in found:
            behind += 1
        full = min(_MOST, _MOST * used // offered)
        scores[i] = (_MOST - full if spread else full) // (1 + behind)
        key = behind * 2 * _EMPTY - left if spread else behind * 2 * _EMPTY + left
        if bool(in_use) is spread:
            key += _EMPTY
        if key <= best and (key < best or name < names[at]):
            best, at = key, i
    if at >= 0:
        scores[at] = BEST
    return scores


def _order(facts: PodFacts) -> dict[str, int]:
    """The place of each card in the user's list."""
    if facts.card_text is None:
        return {}
    try:
        return {card: place for place, card in enumerate(read_alternatives(facts.card_text))}
    except CardNameError:
        return {}

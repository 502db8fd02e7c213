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

kube-scheduler asks for pod after pod of one template, and between two of them few nodes change. So
what was found of a node is kept for the last requests, until the node changes.
"""

from bisect import bisect_left
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from typing import Final, NamedTuple

import msgspec

from ..quota.cards.card import CardNameError, read_alternatives
from ..quota.cards.card_memory import KeptByNode, NodeRank
from ..quota.ledger.ledger_reader import LedgerReader
from ..quota.nodes.free_cards import FreeCards
from ..quota.pods.pod_facts import PodFacts, memory_of

BEST: Final = 10
"""kube-scheduler's highest score of an extender."""
_MOST: Final = BEST - 1
_EMPTY: Final = 2**64
"""More than any amount: added to nodes that come after all others."""
_NEVER: Final = 2**200
"""The rank of a node that does not fit: more than any other."""
KEPT: Final = 16
"""Requests for which ranks of nodes are kept: 1 MB each at 5,000 nodes."""


class NodeScore(msgspec.Struct, frozen=True, gc=False, rename={"host": "Host", "score": "Score"}):
    """The score of one node, as kube-scheduler reads it. Kept, so that it is not made for every pod
    anew.
    """

    host: str
    score: int


Rank = tuple[int, str, NodeScore]
"""Of one node for one request: how good it is, the smallest is the best; its name; and its score if
it is not the best. A plain tuple: thousands are compared for every pod."""
RankOf = Callable[[str], Rank | None]
"""The rank of a node for one request; None for one that is not known."""
_NOBODY: Final[Rank] = (_NEVER, "", NodeScore("", 0))


class _Request(NamedTuple):
    """What ranks depend on besides the nodes."""

    resource: str
    """Empty: memory of one card."""
    need: int
    cards: str


class _Ranks:
    """What is kept for one request."""

    def __init__(self, rank_of: RankOf, kept: KeptByNode) -> None:
        """`kept`: of the source of the ranks."""
        self._rank_of = rank_of
        self._kept = kept
        self._ranks: dict[str, Rank] = {}
        kept.add(self._ranks)

    def of(self, names: Sequence[str]) -> list[NodeScore]:
        """One score for each name. Costs a lookup for each, and more for nodes that changed."""
        ranks, look_at = self._ranks, self._look_at
        try:
            found = [ranks[name] for name in names]
        except KeyError:
            found = [ranks.get(name) or look_at(name) for name in names]
        best = min(found, default=_NOBODY)
        scores = [score for _, _, score in found]
        if best[0] < _NEVER:
            scores[names.index(best[1])] = NodeScore(best[1], BEST)
        return scores

    def _look_at(self, name: str) -> Rank:
        """A node that is not known leaves no trace: it is anybody's word."""
        rank = self._rank_of(name)
        if rank is None:
            return _unfit(name)
        self._ranks[name] = rank
        return rank

    def close(self) -> None:
        """It is not asked any more."""
        self._kept.discard(self._ranks)


class NodeRanking:
    """Scores nodes. Belongs to the ledger's loop."""

    def __init__(self, ledger: LedgerReader, *, spread: bool = False) -> None:
        """`spread`: prefer empty nodes to full ones."""
        self._ledger = ledger
        self._spread = spread
        self._kept: OrderedDict[_Request, _Ranks] = OrderedDict()

    def rank(self, facts: PodFacts, names: Sequence[str]) -> list[NodeScore]:
        """One score for each name, in order; each name once. A node that does not fit, or is not
        known, has 0.
        """
        request = self._request(facts)
        if request is None:
            return [NodeScore(name, 0) for name in names]
        ranks = self._kept.get(request)
        if ranks is None:
            ranks = self._kept[request] = self._begin(request)
            if len(self._kept) > KEPT:
                self._kept.popitem(last=False)[1].close()
        self._kept.move_to_end(request)
        return ranks.of(names)

    def _request(self, facts: PodFacts) -> _Request | None:
        """None: it asks for nothing by which nodes are ranked."""
        need = memory_of(facts.devices)
        if need:
            return _Request("", need, "")
        counts = self._ledger.counts
        devices = [(name, amount) for name, amount in facts.devices if counts(name)]
        if len(devices) != 1:
            return None
        return _Request(*devices[0], facts.card_text or "")

    def _begin(self, request: _Request) -> _Ranks:
        if not request.resource:
            memory = self._ledger.card_memory
            return _Ranks(_by_memory(memory.ranks, request.need, self._spread), memory.kept)
        free = self._ledger.nodes.free
        return _Ranks(_by_card(free, request, self._spread), free.kept)


def _by_memory(ranks: Mapping[str, NodeRank], need: int, spread: bool) -> RankOf:
    rank_of, find = ranks.get, bisect_left

    def rank(name: str) -> Rank | None:
        known = rank_of(name)
        if known is None:
            return None
        most, free, fullness, held = known
        if most < need:
            return _unfit(name)
        if spread:
            key = -free[-1] + (_EMPTY if held else 0)
            return key, name, NodeScore(name, _MOST - fullness)
        left = free[find(free, need)]
        return left if held else left + _EMPTY, name, NodeScore(name, fullness)

    return rank


def _by_card(nodes: FreeCards, request: _Request, spread: bool) -> RankOf:
    resource, need, text = request
    offers, used_of, order = nodes.offers.get, nodes.used.get, _order(text)

    def rank(name: str) -> Rank | None:
        offered, others, found = 0, 0, None
        cards = offers(name)
        if cards is None:
            return None
        for card, amount in cards:
            if card.resource == resource:
                found, offered = card.name, amount
            elif amount:
                others = 1
        in_use = used_of(name)
        used = in_use.get(resource, 0) if in_use else 0
        left = offered - used - need
        if found is None or left < 0:
            return _unfit(name)
        behind = 2 * order.get(found, len(order))
        if others and "/" not in found:
            behind += 1
        full = min(_MOST, _MOST * used // offered)
        key = behind * 2 * _EMPTY - left if spread else behind * 2 * _EMPTY + left
        if bool(in_use) is spread:
            key += _EMPTY
        score = (_MOST - full if spread else full) // (1 + behind)
        return key, name, NodeScore(name, score)

    return rank


def _unfit(name: str) -> Rank:
    return _NEVER, name, NodeScore(name, 0)


def _order(text: str) -> dict[str, int]:
    """The place of each card in the user's list."""
    try:
        return {card: place for place, card in enumerate(read_alternatives(text))} if text else {}
    except CardNameError:
        return {}

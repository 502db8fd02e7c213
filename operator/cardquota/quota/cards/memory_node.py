"""One node: its shared cards, who holds memory of which, and what kind of node that makes it.

Pods by card and pods by memory live in one cluster, and never on one node: a whole card and a part
of the same card would both be given away. What a node is, follows from the pods on it, and from
what it offers where it has none:

- *by-memory*: a pod on it holds card memory, or it offers card memory and no whole cards;
- *by-card*: a pod on it holds cards, or it offers cards and no card memory;
- *undecided*: it offers both and nobody holds any. The first pod that is bound decides;
- *mixed*: pods of both kinds are there, since somebody bound one past us. It takes neither.
"""

from bisect import bisect_left
from enum import StrEnum
from typing import Final, NamedTuple

from ..amounts import LARGEST
from .memory_shape import UNKNOWN, CardPlacement, MemoryShape, SharedUnit


class NodeKind(StrEnum):
    """How the cards of a node are given out."""

    BY_MEMORY = "by-memory"
    BY_CARD = "by-card"
    UNDECIDED = "undecided"
    MIXED = "mixed"
    NEITHER = "without cards"


class MemoryPod(NamedTuple):
    """A pod that holds memory of a card."""

    namespace: str
    name: str
    placement: CardPlacement
    terminating: bool = False
    """It holds its memory until it is gone."""
    assumed: bool = False
    """Whether its Binding is on its way, and was not seen yet."""


FULL: Final = 0
_TENTHS: Final = 9
_KINDS: Final = tuple(NodeKind)


class MemoryNode:
    """Guarantee: `free` of a card is never more than what no pod can hold.

    A pod whose card is not known may be on any of them. So its memory is taken from each, and a
    card that would be over its size is full, never less than that. Changes cost in proportion to
    the cards of the node; a change of its cards, in proportion to its pods.
    """

    __slots__ = (
        "_bad_cards",
        "broken",
        "free",
        "fullness",
        "held",
        "in_order",
        "kind",
        "known",
        "largest",
        "latest",
        "likeness",
        "pods",
        "shape",
        "unknown",
        "used",
        "whole",
        "whole_held",
    )

    def __init__(self) -> None:
        self.known = False
        """Whether the node is there. Pods may be seen before it, and after."""
        self.shape: MemoryShape | None = None
        self.whole: frozenset[str] = frozenset()
        """Resource names of cards that it offers otherwise than by memory."""
        self.whole_held = 0
        """Pods on it that hold such cards."""
        self.broken: frozenset[int] = frozenset()
        """Indexes of broken cards, whoever says so."""
        self.pods: dict[str, MemoryPod] = {}
        """By uid."""
        self.used: list[int] = []
        """By card: what pods hold of which this is known."""
        self.unknown = 0
        """What pods hold of which the card is not known."""
        self._bad_cards: set[str] = set()
        """Uids of pods on a card that the node does not have."""
        self.latest = 0
        """Nanoseconds: the latest time that a pod on it was bound at."""
        self.free: list[int] = []
        """By card: what a pod can get of it. Broken cards have none."""
        self.in_order: list[int] = []
        """The same, sorted."""
        self.held = 0
        """What all pods hold together."""
        self.largest = 0
        """The size of the largest card that is not broken."""
        self.likeness = 0
        """Equal for nodes that take no pod by memory for the same reason, but for sizes."""
        self.fullness = 0
        """How many tenths of its memory are held, 0 to 9."""
        self.kind = NodeKind.NEITHER

    @property
    def unused(self) -> bool:
        """Whether nothing is known of it."""
        return not (self.known or self.pods or self.whole_held)

    @property
    def best(self) -> int:
        """The most that one pod can get."""
        return self.in_order[-1] if self.in_order else FULL

    @property
    def mixed(self) -> bool:
        """Whether pods by card and by memory are on it."""
        return self.kind is NodeKind.MIXED

    @property
    def takes_memory(self) -> bool:
        """Whether pods by memory may come."""
        return self.kind in (NodeKind.BY_MEMORY, NodeKind.UNDECIDED) and self.shape is not None

    @property
    def takes_cards(self) -> bool:
        """Whether pods by card may come."""
        return self.kind not in (NodeKind.BY_MEMORY, NodeKind.MIXED)

    def card_of(self, uid: str) -> int:
        """The card that a pod holds, or UNKNOWN."""
        card = self.pods[uid].placement.card
        return UNKNOWN if uid in self._bad_cards else card

    def card_for(self, amount: int, *, spread: bool = False) -> int | None:
        """The card with the least free memory that still fits, or with `spread` with the most; of
        equal ones the first. None if none fits.
        """
        place = bisect_left(self.in_order, amount)
        if amount < 1 or place == len(self.in_order):
            return None
        return self.free.index(self.in_order[-1 if spread else place])

    def put(self, uid: str, pod: MemoryPod) -> None:
        """A pod holds memory here, or holds it otherwise than before."""
        self._take_out(uid)
        self.pods[uid] = pod
        self._add(uid, pod, 1)
        self.latest = max(self.latest, pod.placement.assumed_at)
        self.refresh()

    def drop(self, uid: str) -> None:
        """A pod holds no memory here any more."""
        if self._take_out(uid):
            self.refresh()

    def reshape(self, shape: MemoryShape | None, broken: frozenset[int]) -> None:
        """Its cards are these now."""
        same = (shape.sizes if shape else ()) == (self.shape.sizes if self.shape else ())
        self.shape, self.broken = shape, broken
        if not same:
            self.used, self.unknown = [0] * (len(shape.sizes) if shape else 0), 0
            self._bad_cards.clear()
            for uid, pod in self.pods.items():
                self._add(uid, pod, 1)
        self.refresh()

    def refresh(self) -> None:
        """Work out what is free, and the kind."""
        self.kind = self._kind()
        self.held = sum(self.used) + self.unknown
        shape = self.shape
        sizes = shape.sizes if shape else ()
        # What kube-scheduler and the kubelet count of all cards together binds as well.
        most = max(FULL, shape.allocatable - self.held) if shape else FULL
        self.free = [
            FULL if i in self.broken else max(FULL, min(most, size - self.used[i] - self.unknown))
            for i, size in enumerate(sizes)
        ]
        self.in_order = sorted(self.free)
        self.largest = max(
            (size for i, size in enumerate(sizes) if i not in self.broken), default=0
        )
        gib = bool(sizes) and shape is not None and shape.unit is SharedUnit.GIB
        traits = (self.known, shape is not None, bool(sizes), gib)
        self.likeness = _KINDS.index(self.kind) * 16 + sum(
            1 << i for i, x in enumerate(traits) if x
        )
        total = shape.total if shape else 0
        self.fullness = min(_TENTHS, _TENTHS * self.held // total) if total else 0

    def _kind(self) -> NodeKind:
        if self.pods:
            return NodeKind.MIXED if self.whole_held else NodeKind.BY_MEMORY
        if self.whole_held:
            return NodeKind.BY_CARD
        if self.shape is not None:
            return NodeKind.UNDECIDED if self.whole else NodeKind.BY_MEMORY
        return NodeKind.BY_CARD if self.whole else NodeKind.NEITHER

    def _take_out(self, uid: str) -> bool:
        pod = self.pods.pop(uid, None)
        if pod is None:
            return False
        self._add(uid, pod, -1)
        self._bad_cards.discard(uid)
        return True

    def _add(self, uid: str, pod: MemoryPod, sign: int) -> None:
        card, amount, *_ = pod.placement
        if 0 <= card < len(self.used):
            self.used[card] += sign * amount
        else:
            self.unknown += sign * amount
            if card != UNKNOWN:
                self._bad_cards.add(uid)


_LIKENESS_BITS: Final = 8
_REASON_BITS: Final = _LIKENESS_BITS + LARGEST.bit_length()
_REASON: Final = (1 << _REASON_BITS) - 1
_NONE: Final = -1
UNHEARD: Final = _NONE << _REASON_BITS
"""The key of a node that nothing is known of. No other node has this one."""


def fit_key(node: MemoryNode) -> int:
    """Above, the most memory that one pod can get, -1 if none may come. Below, a number that is the
    same for nodes that refuse a pod by memory for the same reason.
    """
    most = node.best if node.takes_memory else _NONE
    # One more, so that it is never 0, as the reason of UNHEARD is.
    reason = (node.likeness | node.largest << _LIKENESS_BITS) + 1
    return (most << _REASON_BITS) + reason


def least_key(need: int) -> int:
    """A node takes a pod that needs this much memory if its key is not below this one."""
    return need << _REASON_BITS


def reason_of(key: int) -> int:
    """The lower part of a key."""
    return key & _REASON

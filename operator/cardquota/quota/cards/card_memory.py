"""The memory of all shared cards: every node, every pod that holds some of it, event by event.

Guarantees
- It follows each event at once, and equals a recount of the same pods and nodes.
- What is decided and not seen yet counts (`assume`), until it is seen, or taken back.
- A pod is never lost: not while its node is not known, is deleted, or comes back under its name
  with other cards.

Not guaranteed: it has no clock and does no I/O, and only one event loop touches it.

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
from functools import lru_cache
from typing import Any, Final, NamedTuple

from .memory_shape import UNKNOWN, CardPlacement, MemoryShape, UnhealthyListError, read_unhealthy


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


@lru_cache(maxsize=1024)
def _alike(*traits: object) -> object:
    """Of equal traits the same object, unless very many others came between: who has just seen it
    need not compare.
    """
    return traits


FULL: Final = 0
_TENTHS: Final = 9


class MemoryNode:
    """Guarantee: `free` of a card is never more than what no pod can hold.

    A pod whose card is not known may be on any of them. So its memory is taken from each, and a
    card that would be over its size is full, never less than that. The event of a pod costs by the
    node's cards, however many pods are there.
    """

    __slots__ = (
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
        self.likeness: object = None
        """Equal, and mostly one object, for nodes that take no pod by memory for one reason."""
        self.fullness = 0
        """How many tenths of its memory are held, 0 to 9."""
        self.kind = NodeKind.NEITHER

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

    def card_of(self, uid: str) -> int:
        """The card that a pod holds, or UNKNOWN."""
        card = self.pods[uid].placement.card
        return card if card < len(self.used) else UNKNOWN

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
        self.drop(uid)
        self.pods[uid] = pod
        self._count(pod, 1)
        self.latest = max(self.latest, pod.placement.assumed_at)
        self.refresh()

    def drop(self, uid: str) -> None:
        """A pod holds no memory here any more."""
        pod = self.pods.pop(uid, None)
        if pod is not None:
            self._count(pod, -1)
            self.refresh()

    def reshape(self, shape: MemoryShape | None, broken: frozenset[int]) -> None:
        """Its cards are these now. Costs by its pods, too."""
        self.shape, self.broken = shape, broken
        self.used, self.unknown, self.held = [0] * (len(shape.sizes) if shape else 0), 0, 0
        for pod in self.pods.values():
            self._count(pod, 1)
        self.refresh()

    def _count(self, pod: MemoryPod, sign: int) -> None:
        card, amount, *_ = pod.placement
        self.held += sign * amount
        if 0 <= card < len(self.used):
            self.used[card] += sign * amount
        else:
            self.unknown += sign * amount

    def refresh(self) -> None:
        """Work out what is free, and the kind."""
        self.kind, shape = self._kind(), self.shape
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
        unit = shape.unit if shape is not None and sizes else shape is not None
        self.likeness = _alike(self.kind, self.known, unit, self.largest)
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


NodeRank = tuple[int, list[int], int, bool]
"""Of one node: the most that one pod can get; what is free of its cards, sorted; how many tenths
are held; whether any of it is. A plain tuple: thousands are read for every pod."""
_Odd = tuple[int, bool, tuple[str, ...], str]
"""What is not as it should be of one node: memory of unknown cards, whether it is mixed, what of
its cards cannot be read, and what of the list of broken ones."""
_EVEN: Final[_Odd] = (0, False, (), "")


class KeptByNode:
    """Mappings that others keep by node name, and must not keep when the node changes. Costs
    nothing as long as there are none.
    """

    __slots__ = ("_mappings",)

    def __init__(self) -> None:
        self._mappings: list[dict[str, Any]] = []

    def __len__(self) -> int:
        return len(self._mappings)

    def add(self, mapping: dict[str, Any]) -> None:
        """From now on a node that changes is taken out of this mapping."""
        self._mappings.append(mapping)

    def discard(self, mapping: dict[str, Any]) -> None:
        """The inverse of `add`."""
        self._mappings = [one for one in self._mappings if one is not mapping]

    def drop(self, node: str) -> None:
        """The node has changed."""
        for mapping in self._mappings:
            mapping.pop(node, None)


class CardMemory:
    """By node name. Amounts in the node's unit."""

    def __init__(self) -> None:
        self.nodes: dict[str, MemoryNode] = {}
        """By name: those that are there, or that pods are on. Only to be read by others."""
        self.ranks: dict[str, NodeRank] = {}
        """By node that pods by memory may come to: what decides which of them is best."""
        self.open_to_cards: set[str] = set()
        """Nodes that pods by card may come to."""
        self.kept = KeptByNode()
        """What others keep that follows from `ranks`."""
        self.assumed: dict[str, tuple[str, bool]] = {}
        """By uid: the node that a pod is being bound to, and whether by memory. To be read."""
        self._lists: dict[str, str] = {}
        """By node: the list of broken cards that its ConfigMap has."""
        self._good: dict[str, frozenset[int]] = {}
        """By node: the last list of a ConfigMap that could be read."""
        self._good_annotation: dict[str, frozenset[int]] = {}
        """The same of the node's annotation."""
        self._bad: dict[str, str] = {}
        """By node: why the list of its ConfigMap cannot be read."""
        self._odd: dict[str, _Odd] = {}
        """Of the nodes that are not as they should be."""
        self._to_tell: dict[str, None] = {}
        """Nodes of which something may have to be told."""

    # --- what the watches tell ----

    def node_seen(self, name: str, shape: MemoryShape | None, whole: frozenset[str]) -> None:
        """A node was added or changed. `whole`: resources of cards that it offers by card."""
        node = self._node(name)
        known, node.known = node.known, True
        if known and (node.shape, node.whole) == (shape, whole):
            return
        node.whole = whole
        if shape is None:
            self._good_annotation.pop(name, None)
        elif shape.unhealthy is not None:
            self._good_annotation[name] = frozenset(shape.unhealthy)
        self._reshape(name, node, shape)

    def node_gone(self, name: str) -> None:
        """A node was deleted. Pods on it hold what they hold until they are gone."""
        node = self.nodes.get(name)
        if node is None:
            return
        node.known, node.whole = False, frozenset()
        self._good_annotation.pop(name, None)
        self._reshape(name, node, None)

    def unhealthy_seen(self, node: str, text: str) -> None:
        """The ConfigMap of a node's broken cards was added or changed."""
        self._lists[node] = text
        self._refresh_broken(node)

    def unhealthy_gone(self, node: str) -> None:
        """That ConfigMap was deleted: no card is broken any more by it."""
        for kept in (self._lists, self._good, self._bad):
            kept.pop(node, None)
        self._refresh_broken(node)

    def hold(self, node: str, uid: str, pod: MemoryPod) -> None:
        """A pod that asks for memory is bound to a node."""
        self.forget(uid)
        found = self._node(node)
        found.put(uid, pod)
        self._moved(node, found)

    def release(self, node: str, uid: str) -> None:
        """The inverse of `hold`."""
        found = self.nodes.get(node)
        if found is not None:
            found.drop(uid)
            self._moved(node, found)

    def hold_cards(self, node: str, sign: int) -> None:
        """A pod that holds cards is bound to a node (1), or no longer (-1)."""
        found = self._node(node)
        found.whole_held += sign
        if not found.whole_held or found.whole_held == sign:
            found.refresh()
        self._moved(node, found)

    # --- what is decided, and was not seen yet ----

    def assume(self, node: str, uid: str, pod: MemoryPod) -> None:
        """A pod by memory is being bound. It counts from now on."""
        self.forget(uid)
        self.assumed[uid] = node, True
        found = self._node(node)
        found.put(uid, pod._replace(assumed=True))
        self._moved(node, found)

    def assume_cards(self, node: str, uid: str) -> None:
        """A pod by card is being bound. Its node is by-card from now on."""
        self.forget(uid)
        self.assumed[uid] = node, False
        self.hold_cards(node, 1)

    def forget(self, uid: str) -> None:
        """What was assumed of a pod does not count any more: it was seen, or cannot land."""
        node, by_memory = self.assumed.pop(uid, ("", False))
        if not node:
            return
        if by_memory:
            self.release(node, uid)
        else:
            self.hold_cards(node, -1)

    # --- what is told ----

    def problems(self, name: str) -> list[str]:
        """What of a node's card memory cannot be read."""
        node = self.nodes.get(name)
        shape = node.shape if node is not None else None
        found = list(shape.problems) if shape is not None else []
        return [*found, self._bad[name]] if name in self._bad else found

    def unknown_pods(self, name: str) -> list[MemoryPod]:
        """Pods on a node of which nobody knows the card, by name."""
        node = self.nodes.get(name)
        if node is None or not node.unknown:
            return []
        pods = [pod for uid, pod in node.pods.items() if node.card_of(uid) < 0]
        return sorted(pods, key=lambda pod: (pod.namespace, pod.name))

    def take_untold(self) -> str | None:
        """A node of which something may have changed that is told to people; None if none."""
        return self._to_tell.popitem()[0] if self._to_tell else None

    def tell_all(self) -> None:
        """Have every node looked at that is not as it should be, as when a term begins."""
        self._to_tell.update(dict.fromkeys(self._odd))

    def forget_untold(self) -> None:
        """Nobody is told by us: another replica leads."""
        self._to_tell.clear()

    # --- what more than one of them does ----

    def _node(self, name: str) -> MemoryNode:
        found = self.nodes.get(name)
        if found is None:
            found = self.nodes[name] = MemoryNode()
        return found

    def _refresh_broken(self, name: str) -> None:
        node = self.nodes.get(name)
        if node is not None:
            self._reshape(name, node, node.shape)

    def _reshape(self, name: str, node: MemoryNode, shape: MemoryShape | None) -> None:
        """A list of broken cards is read anew with the cards, since it may name one too many."""
        text = self._lists.get(name)
        self._bad.pop(name, None)
        if text is not None and shape is not None:
            try:
                self._good[name] = frozenset(read_unhealthy(text, len(shape.sizes)))
            except UnhealthyListError as error:
                self._bad[name] = str(error)
        broken = self._good.get(name, frozenset()) | self._good_annotation.get(name, frozenset())
        node.reshape(shape, broken)
        self._moved(name, node)

    def _moved(self, name: str, node: MemoryNode) -> None:
        """Put the node right in what is asked with every pod."""
        if node.takes_memory:
            self.ranks[name] = node.best, node.in_order, node.fullness, node.held > 0
        else:
            self.ranks.pop(name, None)
        self.kept.drop(name)
        by_card = node.known and node.kind not in (NodeKind.BY_MEMORY, NodeKind.MIXED)
        (self.open_to_cards.add if by_card else self.open_to_cards.discard)(name)
        wrong = node.shape.problems if node.shape is not None else ()
        odd = node.unknown, node.mixed, wrong, self._bad.get(name, "")
        if odd != self._odd.get(name, _EVEN):
            self._to_tell[name] = None
            self._odd[name] = odd
            if odd == _EVEN:
                del self._odd[name]
        if not (node.known or node.pods or node.whole_held):
            del self.nodes[name]

"""A cluster whose queues have rows for card memory, in plain dictionaries, and what the rules say
is charged (B10).

It keeps facts only and works everything else out anew, as `plain_cluster` does for cards. Nothing
of the package under test is used here. What depends on history (the unit that came first, the card
that a node had) is kept as history.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field

from .plain_cluster import Sums

SUFFIX = "/gpu-mem"
_SMALLEST_MIB = 1024


@dataclass(kw_only=True)
class PlainMemoryPod:
    uid: str
    state: str
    """gated, open or bound"""
    own_queue: str | None
    names: list[str] | None
    """The cards that it names."""
    amount: int
    node: str = ""
    terminating: bool = False
    stamp: tuple[str, dict[str, int]] | None = None
    assumed: tuple[str, dict[str, int]] | None = None
    node_card: str = ""
    compared: bool = False
    """Whether its stamp was held against the card of its node."""

    @property
    def charged_by(self) -> tuple[str, dict[str, int]] | None:
        return self.assumed or self.stamp


@dataclass(frozen=True)
class PlainMemoryNode:
    """What a node says of itself."""

    product: str
    """By its labels; empty if they name none, or two."""
    offered: int = 0
    capacity: int = 0
    number: int = 0

    @property
    def card(self) -> str:
        """The card that it shows; empty: none that can be named."""
        memory = max(self.offered, self.capacity)
        readable = 0 < self.number <= memory
        return self.product + SUFFIX if self.product and readable else ""

    @property
    def unit(self) -> str:
        """Of a node that shares memory in a way that can be read; else empty."""
        memory = max(self.offered, self.capacity)
        if not 0 < self.number <= memory:
            return ""
        return "GiB" if memory // self.number < _SMALLEST_MIB else "MiB"

    @property
    def shares(self) -> bool:
        return bool(self.offered or self.capacity or self.number)


@dataclass
class PlainMemoryRows:
    default_queue: str = ""
    pods: dict[str, PlainMemoryPod] = field(default_factory=dict)
    queues: dict[str, dict[str, int]] = field(default_factory=dict)
    """The quota in force of each."""
    nodes: dict[str, PlainMemoryNode] = field(default_factory=dict)
    units: dict[str, str] = field(default_factory=dict)
    """By card: the unit in which it is counted. It stays when its nodes are gone."""
    remembered: dict[str, str] = field(default_factory=dict)
    """By node: the card that it has or had."""

    # --- history --------------------------------------------------------------------------

    def node_is_seen(self, name: str, node: PlainMemoryNode, *, new: bool) -> None:
        if new:
            self.remembered.pop(name, None)
        self.nodes[name] = node
        self._follow()

    def node_is_gone(self, name: str) -> None:
        self.nodes.pop(name, None)
        self.remembered.pop(name, None)
        self._follow()

    def _follow(self) -> None:
        """Of nodes with different units the first one's counts, until none of that unit is left."""
        for name in sorted(self.nodes):
            card = self.nodes[name].card
            if card and self.units.get(card) not in {u.unit for u in self._showing(card)}:
                self.units[card] = self.nodes[name].unit
        for name, node in self.nodes.items():
            if node.card and node.unit == self.units[node.card]:
                self.remembered[name] = node.card
            elif node.card:
                self.remembered.pop(name, None)

    def _showing(self, card: str) -> list[PlainMemoryNode]:
        return [node for node in self.nodes.values() if node.card == card]

    def bound_pods_take_their_nodes_card(self) -> None:
        """D8: once known, the card of a bound pod never changes. E3: a stamp is compared once."""
        for pod in self.pods.values():
            card = self.remembered.get(pod.node, "")
            if pod.state != "bound" or not card or pod.node_card:
                continue
            _, stamped = pod.charged_by or ("", {})
            if pod.charged_by is None:
                pod.node_card, pod.compared = card, True
            elif not pod.compared:
                pod.compared = True
                models = {name.split("/")[0] for name, n in stamped.items() if n}
                if models and card.split("/")[0] not in models:
                    pod.node_card = card

    # --- what is charged ------------------------------------------------------------------

    @property
    def limited(self) -> bool:
        """Whether the memory of cards counts."""
        return any(name.endswith(SUFFIX) for rows in self.queues.values() for name in rows)

    def queue_of(self, pod: PlainMemoryPod) -> str:
        if pod.charged_by:
            return pod.charged_by[0]
        named = pod.own_queue
        if not named:
            named = self.default_queue if self.limited or pod.names is not None else ""
        # I3: what came past us is charged only where there is a queue.
        return named if pod.state == "gated" or named in self.queues else ""

    def alternatives(self, pod: PlainMemoryPod) -> list[str]:
        rows = self.queues.get(self.queue_of(pod), {})
        if not self.limited:
            return []
        if pod.names is not None:
            return pod.names
        own = [name for name in rows if name.endswith(SUFFIX)]
        return sorted(own, key=lambda name: (-rows[name], name))

    def charge(self, pod: PlainMemoryPod) -> dict[str, int]:
        if pod.charged_by:
            if pod.node_card:
                return {pod.node_card: pod.amount}
            return {name: n for name, n in pod.charged_by[1].items() if n}
        if pod.node_card:
            return {pod.node_card: pod.amount} if self.limited else {}
        rows, cards = self.queues.get(self.queue_of(pod), {}), self.alternatives(pod)
        cards = [name for name in cards if rows.get(name)] or cards
        return {cards[0]: pod.amount} if cards else {}

    def totals(self) -> dict[tuple[str, str], Sums]:
        found: defaultdict[tuple[str, str], Sums] = defaultdict(Sums)
        for pod in self.pods.values():
            for card, amount in self.charge(pod).items():
                sums = found[self.queue_of(pod), card]
                sums.requested += amount
                if pod.state == "bound":
                    sums.allocated += amount
                elif pod.state == "open" or pod.assumed:
                    sums.inqueue += amount
                else:
                    sums.coming += amount
                sums.leaving += amount if self._leaves(pod) else 0
        return dict(found)

    def _leaves(self, pod: PlainMemoryPod) -> bool:
        """T4: whether what it holds is free once it is gone."""
        return pod.terminating and (pod.state != "gated" or pod.assumed is not None)

    def charged(self) -> Counter[tuple[str, str]]:
        """What counts against the limits."""
        return Counter({key: s.inqueue + s.allocated for key, s in self.totals().items()})

    def waiting(self) -> dict[str, set[str]]:
        found: defaultdict[str, set[str]] = defaultdict(set)
        for uid, pod in self.pods.items():
            if pod.state == "gated" and not pod.assumed and not pod.terminating:
                found[self.queue_of(pod)].add(uid)
        return dict(found)

    # --- room -----------------------------------------------------------------------------

    def fits(self, queue: str, card: str, amount: int) -> bool:
        """Whether there is room for so much more of a card."""
        held: Counter[str] = Counter()
        for pod in self.pods.values():
            if (pod.state != "gated" or pod.assumed) and self.queue_of(pod) == queue:
                held.update(self.charge(pod))
        return held[card] + amount <= self.queues.get(queue, {}).get(card, 0)

    # --- nodes ----------------------------------------------------------------------------

    def counted_nodes(self, card: str) -> list[str]:
        """Those that show it in the unit in which it is counted."""
        found = self.nodes.items()
        return [name for name, n in found if n.card == card and n.unit == self.units[card]]

    def cluster_totals(self) -> dict[str, int]:
        sums = {
            card: sum(self.nodes[name].offered for name in self.counted_nodes(card))
            for card in self.units
        }
        return {card: n for card, n in sums.items() if n}

    def other_units(self) -> set[str]:
        """Nodes that show a card in another unit than the first."""
        return {name for name, n in self.nodes.items() if n.card and n.unit != self.units[n.card]}

    def free_sums(self, card: str) -> Counter[int]:
        """How much is free on each node with the card: how often each amount."""
        return Counter(self._free_on(name) for name in self.counted_nodes(card))

    def _free_on(self, name: str) -> int:
        held = sum(p.amount for p in self.pods.values() if p.state == "bound" and p.node == name)
        return self.nodes[name].offered - held

    def most_at_once(self, card: str) -> int:
        """E7: what one node has free after all that still get a node have filled nodes tightly."""
        free = [self._free_on(name) for name in self.counted_nodes(card)]
        for amount in sorted(self._awaited(card), reverse=True):
            fitting = [n for n in free if n >= amount]
            if fitting:
                free[free.index(min(fitting))] -= amount
        return max(free, default=0)

    def _awaited(self, card: str) -> Iterable[int]:
        for pod in self.pods.values():
            if pod.state == "open" or (pod.state == "gated" and pod.assumed):
                yield from (n for name, n in self.charge(pod).items() if name == card and n)

    def unlimited(self) -> dict[str, tuple[int, int]]:
        """By unit: how many pods hold memory, and how much, that nothing limits."""
        found: dict[str, tuple[int, int]] = {}
        for pod in () if self.limited else self.pods.values():
            if pod.state == "bound":
                node = self.nodes.get(pod.node)
                unit = node.unit if node is not None else ""
                pods, amount = found.get(unit, (0, 0))
                found[unit] = pods + 1, amount + pod.amount
        return found

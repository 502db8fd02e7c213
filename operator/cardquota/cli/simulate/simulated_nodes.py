"""The nodes of the files and what is free on them: a stand-in for the scheduler.

Considered: cards, all other extended resources, cpu, memory, number of pods, node selector and
required affinity, taints, `spec.unschedulable`, the condition Ready. Not considered: affinity
between pods, topology, preemption. Nodes are read as the ledger reads them.
"""

from collections.abc import Iterable
from heapq import heappop, heappush
from typing import Final, NamedTuple

from ...quota.amounts import Charge
from ...quota.cards.vendor_table import VendorTable
from ...quota.nodes.node_facts import node_facts
from ...quota.objects.node import Node
from ...quota.objects.pod import PodSpec
from ...quota.pods.pod_facts import PodFacts
from ...quota.quantity import QuantityError, milli, whole
from ...quota.selectors.picking import LabelledNode, picked
from ...quota.selectors.selector import Selector, decode, encode
from ...quota.selectors.taints import Tolerations, tolerates, tolerations_of
from ...quota.vocabulary import COMPUTE_RESOURCES, CPU, MEMORY

_PODS: Final = "pods"
_UNLIMITED_WHERE_ABSENT: Final = (*COMPUTE_RESOURCES, _PODS)
"""A node without these amounts is assumed to have enough."""
_MOST_SHAPES: Final = 128
"""Shapes of pods of which it is remembered which nodes may have room. Beyond that all are looked at
again."""


class PodShape(NamedTuple):
    """What decides which node a pod may get. Pods of one shape fit on the same nodes."""

    selector: bytes
    tolerations: Tolerations
    cards: frozenset[str]
    """It needs one of them, if there are any."""
    needs: tuple[tuple[str, int], ...]
    """By resource name; cpu in milli-cores, memory in bytes."""


def shape_of(spec: PodSpec, facts: PodFacts, cards: Charge) -> PodShape:
    """The shape of a pod that gets one of these cards."""
    tolerations = tolerations_of(spec.tolerations)
    wanted = frozenset(name for name, _ in cards)
    return PodShape(encode(Selector.of(spec)), tolerations, wanted, tuple(_needs(facts).items()))


def _needs(facts: PodFacts) -> dict[str, int]:
    return {**dict(facts.devices), CPU: facts.cpu, MEMORY: facts.memory, _PODS: 1}


class _SimulatedNode:
    """One node."""

    def __init__(self, node: Node, vendors: VendorTable) -> None:
        self.facts = node_facts(node, vendors)
        self.cards = {card.name for card, _ in self.facts.cards}
        self._labelled = LabelledNode(self.facts.name, dict(self.facts.labels))
        self._free: dict[str, int] = {}
        for resource, value in (node.status.allocatable or {}).items():
            try:
                self._free[resource] = milli(value) if resource == CPU else whole(value)
            except QuantityError:
                self._free[resource] = 0

    def selected_by(self, selector: Selector) -> bool:
        """Whether a pod's node selector and required affinity allow it."""
        return bool(picked(selector, (self._labelled,)))

    def has(self, needs: Iterable[tuple[str, int]]) -> bool:
        """Whether all these amounts are free."""
        return all(
            amount <= self._free.get(resource, 0)
            for resource, amount in needs
            if amount and (resource in self._free or resource not in _UNLIMITED_WHERE_ABSENT)
        )

    def take(self, needs: Iterable[tuple[str, int]], sign: int = 1) -> None:
        """Use these amounts; with `sign` -1 they are free again."""
        for resource, amount in needs:
            if resource in self._free:
                self._free[resource] -= sign * amount


class _Candidates:
    """The nodes that pods of one shape may use, by number, and those of them to be tried."""

    def __init__(self, allowed: Iterable[int]) -> None:
        self._to_try = list(allowed)
        """A heap; sorted at first. A node that had no room is missing until something of it is
        free."""
        self._allowed = frozenset(self._to_try)
        self._has = set(self._to_try)

    def first(self) -> int | None:
        """The first node that may have room."""
        return self._to_try[0] if self._to_try else None

    def drop_first(self) -> None:
        """The first node has no room."""
        self._has.discard(heappop(self._to_try))

    def freed(self, number: int) -> None:
        """Something of a node is free again."""
        if number in self._allowed and number not in self._has:
            self._has.add(number)
            heappush(self._to_try, number)


class SimulatedNodes:
    """All nodes, in the order of the files. A pod gets the first one with room.

    A node that had no room for a shape is not tried again before something of it is free, so many
    pods without room cost little.
    """

    def __init__(self, nodes: Iterable[Node], vendors: VendorTable) -> None:
        self._nodes = [_SimulatedNode(node, vendors) for node in nodes]
        self._numbers = {node.facts.name: i for i, node in enumerate(self._nodes)}
        self._shapes: dict[PodShape, _Candidates] = {}

    def matching(self, spec: PodSpec) -> list[str]:
        """Names of the nodes that the pod's selector and affinity allow."""
        selector = Selector.of(spec)
        return [node.facts.name for node in self._nodes if node.selected_by(selector)]

    def may_have_room(self, shape: PodShape) -> bool:
        """Whether a pod of this shape is worth a try: False if no node can have room for it."""
        return self._candidates(shape).first() is not None

    def bind(self, shape: PodShape) -> str | None:
        """Take what the pod needs on the first node that has it. Returns its name, or None."""
        candidates = self._candidates(shape)
        while (number := candidates.first()) is not None:
            node = self._nodes[number]
            if node.has(shape.needs):
                node.take(shape.needs)
                return node.facts.name
            candidates.drop_first()
        return None

    def hold(self, facts: PodFacts) -> None:
        """A pod of a live cluster has its node. One that is not in the files is no matter."""
        number = self._numbers.get(facts.node)
        if number is not None:
            self._nodes[number].take(_needs(facts).items())

    def free(self, facts: PodFacts) -> None:
        """A pod that `bind` gave a node is gone."""
        number = self._numbers[facts.node]
        self._nodes[number].take(_needs(facts).items(), -1)
        for candidates in self._shapes.values():
            candidates.freed(number)

    def _candidates(self, shape: PodShape) -> _Candidates:
        found = self._shapes.get(shape)
        if found is None:
            if len(self._shapes) >= _MOST_SHAPES:
                self._shapes.clear()
            selector = decode(shape.selector)
            found = self._shapes[shape] = _Candidates(
                number
                for number, node in enumerate(self._nodes)
                if node.facts.takes_pods
                and (not shape.cards or shape.cards & node.cards)
                and tolerates(shape.tolerations, node.facts.taints)
                and node.selected_by(selector)
            )
        return found

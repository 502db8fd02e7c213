"""The nodes of the files and what is free on them: a stand-in for the scheduler.

Considered: cards, all other extended resources, cpu, memory, number of pods, node selector and
required affinity, taints, `spec.unschedulable`, the condition Ready. Not considered: affinity
between pods, topology, preemption. Nodes are read as the ledger reads them.
"""

from collections.abc import Iterable
from typing import Final, NamedTuple

from ...quota.amounts import Charge, QuantityError, milli, whole
from ...quota.cards.vendor_table import VendorTable
from ...quota.nodes.node_facts import node_facts
from ...quota.objects.node import Node
from ...quota.objects.pod import PodSpec
from ...quota.pods.pod_facts import PodFacts
from ...quota.selectors.selector import (
    LabelledNode,
    Selector,
    Tolerations,
    decode,
    encode,
    picked,
    tolerates,
    tolerations_of,
)
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
    needs = {**dict(facts.devices), CPU: facts.cpu, MEMORY: facts.memory, _PODS: 1}
    return PodShape(encode(Selector.of(spec)), tolerations, wanted, tuple(needs.items()))


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

    def take(self, needs: Iterable[tuple[str, int]]) -> None:
        """Use these amounts."""
        for resource, amount in needs:
            if resource in self._free:
                self._free[resource] -= amount


class SimulatedNodes:
    """All nodes, in the order of the files. A pod gets the first one with room.

    A node that had no room for a shape is not tried again, since nothing is ever free again: many
    pods without room cost little.
    """

    def __init__(self, nodes: Iterable[Node], vendors: VendorTable) -> None:
        self._nodes = [_SimulatedNode(node, vendors) for node in nodes]
        self._shapes: dict[PodShape, list[_SimulatedNode]] = {}
        """The nodes that may have room, the last one first."""

    def matching(self, spec: PodSpec) -> list[str]:
        """Names of the nodes that the pod's selector and affinity allow."""
        selector = Selector.of(spec)
        return [node.facts.name for node in self._nodes if node.selected_by(selector)]

    def bind(self, shape: PodShape) -> str | None:
        """Take what the pod needs on the first node that has it. Returns its name, or None."""
        to_try = self._to_try(shape)
        while to_try:
            node = to_try[-1]
            if node.has(shape.needs):
                node.take(shape.needs)
                return node.facts.name
            to_try.pop()
        return None

    def _to_try(self, shape: PodShape) -> list[_SimulatedNode]:
        found = self._shapes.get(shape)
        if found is None:
            if len(self._shapes) >= _MOST_SHAPES:
                self._shapes.clear()
            selector = decode(shape.selector)
            found = self._shapes[shape] = [
                node
                for node in reversed(self._nodes)
                if node.facts.takes_pods
                and (not shape.cards or shape.cards & node.cards)
                and tolerates(shape.tolerations, node.facts.taints)
                and node.selected_by(selector)
            ]
        return found

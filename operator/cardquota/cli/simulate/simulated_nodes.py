"""The nodes of the files and what is free on them: a stand-in for the scheduler.

Considered: cards, all other extended resources, cpu, memory, number of pods, node selector and
required affinity, taints, `spec.unschedulable`, the condition Ready. Not considered: affinity
between pods, topology, preemption. Nodes are read as the ledger reads them.
"""

from collections.abc import Iterable
from typing import Final

from ...quota.amounts import Charge
from ...quota.cards.vendor_table import VendorTable
from ...quota.nodes.node_facts import node_facts
from ...quota.nodes.selector_index import label_of
from ...quota.objects.node import Node
from ...quota.objects.pod import PodSpec
from ...quota.pods.pod_facts import PodFacts
from ...quota.quantity import QuantityError, milli, whole
from ...quota.selectors.selector import Selector
from ...quota.selectors.taints import tolerates, tolerations_of
from ...quota.vocabulary import COMPUTE_RESOURCES, CPU, MEMORY

_PODS: Final = "pods"
_UNLIMITED_WHERE_ABSENT: Final = (*COMPUTE_RESOURCES, _PODS)
"""A node without these amounts is assumed to have enough."""


class _SimulatedNode:
    """One node."""

    def __init__(self, node: Node, vendors: VendorTable) -> None:
        self.facts = node_facts(node, vendors)
        self.cards = {card.name for card, _ in self.facts.cards}
        self._free: dict[str, int] = {}
        for resource, value in (node.status.allocatable or {}).items():
            try:
                self._free[resource] = milli(value) if resource == CPU else whole(value)
            except QuantityError:
                self._free[resource] = 0

    def selected_by(self, selector: Selector) -> bool:
        """Whether a pod's node selector and required affinity allow it."""
        return selector.selects(self.facts.name, lambda key: label_of(self.facts.labels, key))

    def has(self, needs: dict[str, int]) -> bool:
        """Whether all these amounts are free."""
        return all(
            amount <= self._free.get(resource, 0)
            for resource, amount in needs.items()
            if amount and (resource in self._free or resource not in _UNLIMITED_WHERE_ABSENT)
        )

    def take(self, needs: dict[str, int]) -> None:
        """Use these amounts."""
        for resource, amount in needs.items():
            if resource in self._free:
                self._free[resource] -= amount


class SimulatedNodes:
    """All nodes, in the order of the files."""

    def __init__(self, nodes: Iterable[Node], vendors: VendorTable) -> None:
        self._nodes = [_SimulatedNode(node, vendors) for node in nodes]

    def matching(self, spec: PodSpec) -> list[str]:
        """Names of the nodes that the pod's selector and affinity allow."""
        selector = Selector.of(spec)
        return [node.facts.name for node in self._nodes if node.selected_by(selector)]

    def bind(self, spec: PodSpec, facts: PodFacts, cards: Charge) -> str | None:
        """Take what the pod needs on the first node that has it. Returns its name, or None."""
        selector = Selector.of(spec)
        wanted = {name for name, _ in cards}
        tolerations = tolerations_of(spec.tolerations)
        needs = {**dict(facts.devices), CPU: facts.cpu, MEMORY: facts.memory, _PODS: 1}
        for node in self._nodes:
            there = node.facts
            if not (there.takes_pods and wanted <= node.cards and node.has(needs)):
                continue
            if tolerates(tolerations, there.taints) and node.selected_by(selector):
                node.take(needs)
                return there.name
        return None

"""A node and the cards it shows."""

from typing import Self

import msgspec

from cardquota.quota.cards import DEFAULT_TABLE
from cardquota.quota.nodes import NodeFacts
from cardquota.quota.nodes.node_facts import node_facts
from cardquota.quota.objects import Node

from .body import Body, new_body
from .names import GPU


class NodeBody(Body):
    def showing(self, product: str, memory: str | None = "143771", resource: str = GPU) -> Self:
        """The labels of a card, without any allocatable."""
        found = self.labelled(f"{resource}.product", product)
        return found.labelled(f"{resource}.memory", memory)

    def offering(self, amount: int | str, resource: str = GPU) -> Self:
        return self.put(amount, "status", "allocatable", resource)

    def with_cards(self, product: str, amount: int | str, resource: str = GPU) -> Self:
        return self.showing(product, resource=resource).offering(amount, resource)

    def sharing(self, product: str, amount: int, memory: str, replicas: str = "2") -> Self:
        """MPS shares."""
        return (
            self.showing(product, memory)
            .labelled(f"{GPU}.replicas", replicas)
            .labelled(f"{GPU}.sharing-strategy", "mps")
            .offering(amount, f"{GPU}.shared")
        )

    def with_slices(self, profile: str, amount: int) -> Self:
        """MIG slices, beside the labels of the card."""
        return self.offering(amount, f"nvidia.com/mig-{profile}")

    def sharing_memory(self, memory: int | str, cards: int | str) -> Self:
        """Cards whose memory pods share: `memory` of all of them together."""
        return self.offering(memory, "aliyun.com/gpu-mem").offering(cards, "aliyun.com/gpu-count")

    def with_capacity(self, amount: int | str, resource: str) -> Self:
        return self.put(amount, "status", "capacity", resource)

    def without_allocatable(self) -> Self:
        return self.put({}, "status", "allocatable")

    def wire(self) -> Node:
        return msgspec.convert(self.body, Node)

    def facts(self) -> NodeFacts:
        return node_facts(self.wire(), DEFAULT_TABLE)


def a_node(name: str = "node") -> NodeBody:
    return NodeBody(new_body(name))

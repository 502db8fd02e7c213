"""The product with one of the safeguards of card memory taken out."""

from typing import Any

from cardquota.extender import BindArgs, Binder, binder
from cardquota.quota.cards import CardMemory, MemoryNode, MemoryPod, MemoryShape, NodeKind
from cardquota.quota.messages import binding_messages
from cardquota.quota.pods import PodFacts

from .breaker import Breaker


def uncharged_binding(breaker: Breaker) -> None:
    """Two binds, one after the other, get the last room of a card."""

    def nothing(self: Any, node: str, uid: str, pod: MemoryPod) -> None:
        pass

    breaker.replace(CardMemory, "assume", nothing)


def unsettled_binding(breaker: Breaker) -> None:
    """What lands late gets room that was given away meanwhile."""

    async def taken_back(self: Any, facts: PodFacts, args: BindArgs) -> str:
        self._ledger.card_memory.forget(facts.uid)
        return binding_messages.refused(args.node, "nobody knows whether it landed")

    breaker.replace(Binder, "_settle", taken_back)


def unnamed_pod(breaker: Breaker) -> None:
    """A Binding gets another pod of that name."""

    def nothing(facts: PodFacts) -> dict[str, Any]:
        return {}

    breaker.replace(binder, "precondition", nothing)


def kinds_meet(breaker: Breaker) -> None:
    """Nodes that offer both take both."""
    kind = MemoryNode._kind

    def whoever_is_there(self: Any) -> NodeKind:
        found = kind(self)
        if self.shape is None or not self.whole or found is NodeKind.UNDECIDED:
            return found
        breaker.count(MemoryNode, "_kind")
        return NodeKind.UNDECIDED

    breaker.replace(MemoryNode, "_kind", whoever_is_there, always=False)


def broken_card(breaker: Breaker) -> None:
    """Cards are as good as any others, whatever the lists say."""
    reshape = MemoryNode.reshape

    def none_is_broken(self: Any, shape: MemoryShape | None, broken: frozenset[int]) -> None:
        if broken:
            breaker.count(MemoryNode, "reshape")
        reshape(self, shape, frozenset())

    breaker.replace(MemoryNode, "reshape", none_is_broken, always=False)

"""B1, B2, B3: after any events card memory is what a plain count of pods and nodes gives.

The count shares no code with the product: it reads the texts anew, and adds up.
"""

import json
import re
from typing import Any

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from builders import a_ledger, a_node, a_pod, see
from builders.node import NodeBody
from builders.pod import PodBody
from cardquota.quota import vocabulary as v

NODES = st.sampled_from(["n1", "n2"])
PODS = st.sampled_from([f"p{i}" for i in range(8)])
INDEXES = st.sampled_from(["0", "1", "2", "3", "9", "-1", "x", "01", "", None])
LISTS = st.sampled_from(["", "0", "1,3", "0,1,2,3", "1, 2", "7", "GPU-1", "99999999999"])
AMOUNTS = st.sampled_from([1, 5, 8, 10, 13])
SHAPES = st.sampled_from(
    [(40, 4, None), (20, 2, None), (20, 2, "[13, 7]"), (20, 2, "[13]"), (20, 0, None), (0, 0, None)]
)


class MemoryHistory(RuleBasedStateMachine):
    """Pods come, move on and go; nodes change under them; lists are good and bad."""

    def __init__(self) -> None:
        super().__init__()
        self.ledger = a_ledger()
        self.revision = 10
        self.nodes: dict[str, tuple[int, int, str | None, bool]] = {}
        self.pods: dict[str, tuple[str, str | None, int, bool]] = {}
        """By name: node, index, amount; or by card."""
        self.lists: dict[str, str] = {}
        self.good: dict[str, set[int]] = {}

    def _next(self) -> int:
        self.revision += 1
        return self.revision

    @rule(name=NODES, shape=SHAPES, whole=st.booleans())
    def node(self, name: str, shape: tuple[int, int, str | None], whole: bool) -> None:
        memory, count, sizes = shape
        body: NodeBody = a_node(name).at_revision(self._next())
        if memory or count:
            body = body.sharing_memory(memory, count).annotated(v.CARD_MEMORY, sizes)
        see(self.ledger, body.offering(2) if whole else body)
        self.nodes[name] = (memory, count, sizes, whole)
        self._reread(name)

    @rule(name=NODES)
    def node_gone(self, name: str) -> None:
        self.ledger.node_gone(name)
        self.nodes.pop(name, None)

    @rule(name=NODES, text=LISTS)
    def list_seen(self, name: str, text: str) -> None:
        self.ledger.card_memory.unhealthy_seen(name, text)
        self.lists[name] = text
        self._reread(name)

    @rule(name=NODES)
    def list_gone(self, name: str) -> None:
        self.ledger.card_memory.unhealthy_gone(name)
        self.lists.pop(name, None)
        self.good.pop(name, None)

    @rule(name=PODS, node=NODES, index=INDEXES, amount=AMOUNTS, ending=st.booleans())
    def bound(self, name: str, node: str, index: str | None, amount: int, ending: bool) -> None:
        """A pod never moves: one that is bound already keeps its node and what it asks for."""
        if name in self.pods:
            node, _, amount, whole = self.pods[name]
            if whole:
                return
        pod: PodBody = a_pod(name).asking_for_memory(amount).on_node(node)
        pod = pod.annotated(v.GPU_MEMORY_CARD, index).at_revision(self._next())
        see(self.ledger, pod.terminating() if ending else pod)
        self.pods[name] = (node, index, amount, False)

    @rule(name=PODS, node=NODES)
    def bound_by_card(self, name: str, node: str) -> None:
        if name not in self.pods:
            see(self.ledger, a_pod(name).asking_for(1).on_node(node).at_revision(self._next()))
            self.pods[name] = (node, None, 1, True)

    @rule(name=PODS, done=st.booleans())
    def gone(self, name: str, done: bool) -> None:
        if name not in self.pods:
            return
        node, _, amount, whole = self.pods.pop(name)
        pod = a_pod(name).asking_for(1) if whole else a_pod(name).asking_for_memory(amount)
        if done:
            see(self.ledger, pod.on_node(node).in_phase("Succeeded").at_revision(self._next()))
        self.ledger.pod_gone(f"uid-{name}")

    def _sizes(self, name: str) -> list[int] | None:
        """None: it shares nothing. Empty: that cannot be read."""
        memory, count, sizes, _ = self.nodes.get(name, (0, 0, None, False))
        if not memory and not count:
            return None
        if not memory or not count:
            return []
        found: list[Any] = json.loads(sizes) if sizes else [memory // count] * count
        return found if len(found) == count and sum(found) <= memory else []

    def _reread(self, name: str) -> None:
        sizes, text = self._sizes(name), self.lists.get(name)
        if text is None or sizes is None:
            return
        wanted = {int(one) for one in text.split(",") if one} if _is_list(text) else None
        if wanted is not None and all(one < len(sizes) for one in wanted):
            self.good[name] = wanted

    @invariant()
    def it_is_what_a_plain_count_gives(self) -> None:
        for name in ("n1", "n2"):
            here = [pod for pod in self.pods.values() if pod[0] == name]
            sizes, broken = self._sizes(name), self.good.get(name, set())
            node = self.ledger.card_memory.get(name)
            if node is None:
                assert name not in self.nodes
                assert not here
                continue
            used = [0] * len(sizes or [])
            unknown = 0
            for _, index, amount, whole in here:
                if whole:
                    continue
                if index in [str(i) for i in range(len(used))]:
                    used[int(index or "")] += amount
                else:
                    unknown += amount
            held = sum(used) + unknown
            left = self.nodes[name][0] - held if name in self.nodes else 0
            free = [
                0 if i in broken else max(0, min(left, size - used[i] - unknown))
                for i, size in enumerate(sizes or [])
            ]
            assert (node.used, node.unknown, node.held) == (used, unknown, held)
            assert node.free == free
            by_memory = any(not pod[3] for pod in here)
            by_card = any(pod[3] for pod in here)
            offers = name in self.nodes and self.nodes[name][3]
            undecided = not by_memory and not by_card
            takes = sizes is not None and not by_card and name in self.nodes
            room = self.ledger.card_memory.room.get(name)
            assert room == (max(free, default=0) if takes else None)
            closed = by_memory or (undecided and sizes is not None and not offers)
            known = name in self.nodes
            assert (name in self.ledger.card_memory.open_to_cards) is (known and not closed)


def _is_list(text: str) -> bool:
    return (bool(text) and re.fullmatch(r"\d(,\d)*", text) is not None) or text == ""


MemoryHistory.TestCase.settings = settings(max_examples=60, stateful_step_count=40, deadline=None)
TestMemoryHistory = MemoryHistory.TestCase

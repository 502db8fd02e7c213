"""B1, B2, B3, B5: after any events card memory is what a plain count of pods and nodes gives."""

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from builders import a_ledger, a_node, a_pod, see
from builders.node import NodeBody
from builders.pod import PodBody
from cardquota.quota import vocabulary as v
from cardquota.quota.cards import UNKNOWN, CardPlacement, MemoryPod
from harness.card_memory_count import CardHolder, CardMemoryCount, SharingNode

NODES = st.sampled_from(["n1", "n2"])
PODS = st.sampled_from([f"p{i}" for i in range(8)])
INDEXES = st.sampled_from(["0", "1", "2", "3", "9", "-1", "x", "01", "", None])
LISTS = st.sampled_from(["", "0", "1,3", "0,1,2,3", "1, 2", "7", "GPU-1", "99999999999"])
AMOUNTS = st.sampled_from([1, 5, 8, 10, 13])
SHAPES = st.sampled_from(
    [(40, 4, None), (20, 2, None), (20, 2, "[13, 7]"), (20, 2, "[13]"), (20, 0, None), (0, 0, None)]
)


class MemoryHistory(RuleBasedStateMachine):
    """Pods come, are bound, move on and go; nodes change under them; lists are good and bad."""

    def __init__(self) -> None:
        super().__init__()
        self.ledger = a_ledger()
        self.count = CardMemoryCount()
        self.revision = 10

    def _next(self) -> int:
        self.revision += 1
        return self.revision

    @rule(name=NODES, shape=SHAPES, whole=st.booleans(), noted=st.none() | LISTS)
    def node(
        self, name: str, shape: tuple[int, int, str | None], whole: bool, noted: str | None
    ) -> None:
        memory, number, sizes = shape
        body: NodeBody = a_node(name).at_revision(self._next()).annotated(v.UNHEALTHY_CARDS, noted)
        if memory or number:
            body = body.sharing_memory(memory, number).annotated(v.CARD_MEMORY, sizes)
        see(self.ledger, body.offering(2) if whole else body)
        self.count.node(name, SharingNode(memory, number, sizes, noted, whole))

    @rule(name=NODES)
    def node_gone(self, name: str) -> None:
        self.ledger.node_gone(name)
        self.count.node_gone(name)

    @rule(name=NODES, text=LISTS)
    def list_seen(self, name: str, text: str) -> None:
        self.ledger.card_memory.unhealthy_seen(name, text)
        self.count.list_seen(name, text)

    @rule(name=NODES)
    def list_gone(self, name: str) -> None:
        self.ledger.card_memory.unhealthy_gone(name)
        self.count.list_gone(name)

    @rule(name=PODS, node=NODES, index=INDEXES, amount=AMOUNTS, ending=st.booleans())
    def bound(self, name: str, node: str, index: str | None, amount: int, ending: bool) -> None:
        """A pod never moves: one that is bound already keeps its node and what it asks for. One
        that is being bound asks for what it asked for, and may be seen elsewhere.
        """
        known = self.count.pods.get(name) or self.count.decided.get(name)
        if known is not None:
            node = known.node if name in self.count.pods else node
            amount = known.amount
            if known.whole:
                return
        pod: PodBody = a_pod(name).asking_for_memory(amount).on_node(node)
        pod = pod.annotated(v.GPU_MEMORY_CARD, index).at_revision(self._next())
        see(self.ledger, pod.terminating() if ending else pod)
        self.count.pod(name, CardHolder(node, index, amount))

    @rule(name=PODS, node=NODES)
    def bound_by_card(self, name: str, node: str) -> None:
        known = self.count.pods.get(name) or self.count.decided.get(name)
        if known is None or (known.whole and name in self.count.decided):
            see(self.ledger, a_pod(name).asking_for(1).on_node(node).at_revision(self._next()))
            self.count.pod(name, CardHolder(node, None, 1, whole=True))

    @rule(name=PODS, node=NODES, card=st.integers(UNKNOWN, 3), amount=AMOUNTS)
    def assumed(self, name: str, node: str, card: int, amount: int) -> None:
        """The binder decides; again, if it already has: of an unknown card, or elsewhere."""
        if name in self.count.pods:
            return
        known = self.count.decided.get(name)
        if known is not None:
            if known.whole:
                return
            amount = known.amount
        else:
            see(self.ledger, a_pod(name).asking_for_memory(amount).at_revision(self._next()))
        pod = MemoryPod("team", name, CardPlacement(card, amount))
        self.ledger.card_memory.assume(node, f"uid-{name}", pod)
        self.count.decided[name] = CardHolder(node, None if card < 0 else str(card), amount)

    @rule(name=PODS, node=NODES)
    def assumed_by_card(self, name: str, node: str) -> None:
        known = self.count.decided.get(name)
        if name in self.count.pods or (known is not None and not known.whole):
            return
        see(self.ledger, a_pod(name).asking_for(1).at_revision(self._next()))
        self.ledger.card_memory.assume_cards(node, f"uid-{name}")
        self.count.decided[name] = CardHolder(node, None, 1, whole=True)

    @rule(name=PODS)
    def forgotten(self, name: str) -> None:
        """What was assumed cannot land, or nothing was."""
        self.ledger.card_memory.forget(f"uid-{name}")
        self.count.decided.pop(name, None)

    @rule(name=PODS)
    def relabelled(self, name: str) -> None:
        """Somebody else writes on a pod that is being bound: that says nothing of its node."""
        known = self.count.decided.get(name)
        if known is not None:
            pod = a_pod(name).asking_for(1) if known.whole else a_pod(name)
            pod = pod if known.whole else pod.asking_for_memory(known.amount)
            see(self.ledger, pod.labelled("x", "y").at_revision(self._next()))

    @rule(name=PODS, done=st.booleans())
    def gone(self, name: str, done: bool) -> None:
        known = self.count.pods.get(name) or self.count.decided.get(name)
        if known is None:
            return
        pod = a_pod(name).asking_for(1) if known.whole else a_pod(name)
        pod = pod if known.whole else pod.asking_for_memory(known.amount)
        if done:
            over = pod.on_node(known.node).in_phase("Succeeded")
            see(self.ledger, over.at_revision(self._next()))
            self.count.gone(name)
            assert self.count.wrong(self.ledger.card_memory) == []
        self.ledger.pod_gone(f"uid-{name}")
        self.count.gone(name)

    @invariant()
    def it_is_what_a_plain_count_gives(self) -> None:
        assert self.count.wrong(self.ledger.card_memory) == []
        assumed = {uid.removeprefix("uid-") for uid in self.ledger.card_memory.assumed}
        assert assumed == set(self.count.decided)
        for name in ("n1", "n2"):
            node = self.ledger.card_memory.nodes.get(name)
            assert (node is None) or node.held == sum(node.used) + node.unknown


MemoryHistory.TestCase.settings = settings(max_examples=60, stateful_step_count=40, deadline=None)
TestMemoryHistory = MemoryHistory.TestCase

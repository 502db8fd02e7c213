"""I2, B10: after any history of rows for card memory the ledger is what a plain count says.

A machine of its own beside that of whole cards: memory counts or does not, has a unit, and one card
is shared by several pods; groups add nothing to that.
"""

import json
from collections import Counter
from typing import Any

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from builders import a_ledger, a_node, a_queue, see
from builders.node import NodeBody
from builders.plain_memory_rows import PlainMemoryNode, PlainMemoryPod, PlainMemoryRows
from builders.pod import PodBody
from builders.queue import QueueBody
from cardquota.quota import GPU_MEMORY, GPU_PRODUCT, Stamp
from cardquota.quota.decisions import QueueRoom
from cardquota.quota.pods import PodRequest
from cardquota.quota.release import Refusal
from cardquota.quota.release.cycle import openings
from cardquota.quota.reports import unlimited_use
from cardquota.quota.reports.drift import drift
from harness.card_memory_count import CardHolder, CardMemoryCount, SharingNode

from ..any_memory_rows import (
    CARDS,
    KINDS,
    NODES,
    QUEUES,
    amounts,
    body_of,
    names,
    nodes,
    own_queues,
    picks,
    queues,
    texts,
)
from ..plain_totals import left_over, sums_of


class MemoryRows(RuleBasedStateMachine):
    """Rows come and go, nodes change product and unit, pods go all their ways."""

    def __init__(self) -> None:
        super().__init__()
        self.plain, self.held = PlainMemoryRows(), CardMemoryCount()
        self.ledger = a_ledger()
        self.revision = 100
        self.pod_bodies: dict[str, PodBody] = {}
        self.older: list[PodBody] = []
        self.queue_bodies: dict[str, QueueBody] = {}
        self.node_bodies: dict[str, NodeBody] = {}
        self.stamps: dict[str, Stamp] = {}

    @initialize(
        default=st.sampled_from(("", "red")),
        at_once=st.sampled_from((1, 99)),
    )
    def settings_of_the_installation(self, default: str, at_once: int) -> None:
        self.plain = PlainMemoryRows(default)
        self.ledger = a_ledger(default_queue=default, at_once=at_once)

    def next(self) -> int:
        self.revision += 1
        return self.revision

    def one(self, pick: int, **wanted: Any) -> PlainMemoryPod | None:
        found = [
            pod
            for _, pod in sorted(self.plain.pods.items())
            if all(getattr(pod, name) == value for name, value in wanted.items())
        ]
        return found[pick % len(found)] if found else None

    def tell(self, pod: PlainMemoryPod) -> None:
        """The watch event of a pod as it now is."""
        if pod.uid in self.pod_bodies:
            self.older.append(self.pod_bodies[pod.uid])
        self.plain.pods[pod.uid] = pod
        self.pod_bodies[pod.uid] = body_of(pod).at_revision(self.next())
        if pod.state == "bound":
            self.held.pod(pod.uid, CardHolder(pod.node, "0", pod.amount))
        see(self.ledger, self.pod_bodies[pod.uid])

    def forget(self, uid: str) -> None:
        del self.plain.pods[uid], self.pod_bodies[uid]
        self.stamps.pop(uid, None)
        self.held.gone(uid)
        self.older = [body for body in self.older if body.uid != uid]

    # --- pods -----------------------------------------------------------------------------

    @rule(
        state=st.sampled_from(("gated", "gated", "open")), queue=own_queues, cards=names, n=amounts
    )
    def a_pod_is_created(self, state: str, queue: str | None, cards: Any, n: int) -> None:
        uid = f"uid-p{self.next()}"
        pod = PlainMemoryPod(uid=uid, state=state, own_queue=queue, names=cards, amount=n)
        self.tell(pod)

    @rule(queue=queues, cards=names, n=amounts, node=nodes)
    def a_pod_is_created_on_a_node(self, queue: str, cards: Any, n: int, node: str) -> None:
        uid = f"uid-p{self.next()}"
        self.tell(
            PlainMemoryPod(
                uid=uid, state="bound", own_queue=queue, names=cards, amount=n, node=node
            )
        )

    @rule(pick=picks, cards=names, queue=own_queues)
    def a_gated_pod_is_edited(self, pick: int, cards: Any, queue: str | None) -> None:
        pod = self.one(pick, state="gated", assumed=None)
        if pod is not None:
            pod.names, pod.own_queue = cards, queue
            self.tell(pod)

    @rule(pick=picks)
    def somebody_else_opens_a_gate(self, pick: int) -> None:
        pod = self.one(pick, state="gated", assumed=None)
        if pod is not None:
            pod.state = "open"
            self.tell(pod)

    @rule(pick=picks, node=nodes)
    def somebody_else_binds_a_pod(self, pick: int, node: str) -> None:
        """To whatever node."""
        pod = self.one(pick, state="open")
        if pod is not None:
            pod.state, pod.node = "bound", node
            self.tell(pod)

    @rule(pick=picks)
    def a_pod_is_terminated(self, pick: int) -> None:
        pod = self.one(pick, terminating=False, assumed=None)
        if pod is not None:
            pod.terminating = True
            self.tell(pod)

    @rule(pick=picks, phase=st.sampled_from((None, "Succeeded", "Failed")))
    def a_pod_ends(self, pick: int, phase: str | None) -> None:
        pod = self.one(pick)
        if pod is not None:
            if phase is not None:
                see(self.ledger, body_of(pod).in_phase(phase).at_revision(self.next()))
            else:
                self.ledger.pod_gone(pod.uid)
            self.forget(pod.uid)

    @precondition(lambda self: self.older)
    @rule(pick=picks)
    def an_old_event_of_a_pod_comes_late(self, pick: int) -> None:
        see(self.ledger, self.older[pick % len(self.older)])

    # --- our own gate, and our own binding ----------------------------------------------------

    @rule(queue=queues)
    def all_that_fits_is_charged(self, queue: str) -> None:
        """As before its gate is opened; and nothing that grew is above its row."""
        for found in openings(self.ledger, queue):
            if isinstance(found, Refusal):
                continue
            before = self.plain.charged()
            for record, cards in found.pods:
                pod = self.plain.pods[record.facts.uid]
                pod.assumed = queue, dict(cards)
                self.stamps[pod.uid] = Stamp(queue, cards, "term-1")
                self.ledger.decisions.assume(pod.uid, self.stamps[pod.uid])
                assert bool(cards) == self.plain.limited, "charged exactly while there is a row"
            for (name, card), amount in self.plain.charged().items():
                if amount > before[name, card]:
                    assert amount <= self.plain.queues[name].get(card, 0), (name, card)

    @rule(pick=picks)
    def the_event_of_our_patch_comes(self, pick: int) -> None:
        charged = [uid for uid, p in self.plain.pods.items() if p.state == "gated" and p.assumed]
        if charged:
            pod = self.plain.pods[sorted(charged)[pick % len(charged)]]
            pod.state, pod.stamp, pod.assumed = "open", pod.assumed, None
            self.tell(pod)

    @rule(pick=picks)
    def our_patch_is_refused(self, pick: int) -> None:
        charged = [uid for uid, p in self.plain.pods.items() if p.state == "gated" and p.assumed]
        if charged:
            uid = sorted(charged)[pick % len(charged)]
            self.plain.pods[uid].assumed = None
            self.ledger.decisions.retract(uid, self.stamps[uid])

    @rule()
    def our_term_ends(self) -> None:
        list(self.ledger.decisions.end_term_in_steps())
        for pod in self.plain.pods.values():
            pod.assumed = None

    # --- nodes ----------------------------------------------------------------------------

    @rule(name=nodes, one=st.sampled_from(KINDS), new=st.booleans(), whole=st.booleans())
    def a_node_is_seen(self, name: str, one: PlainMemoryNode, new: bool, whole: bool) -> None:
        known = self.node_bodies.get(name)
        uid = known.uid if known is not None and not new else f"{name}-{self.next()}"
        body = a_node(name).with_uid(uid).at_revision(self.next())
        body = body.labelled(GPU_PRODUCT, one.product or None)
        body = body.sharing_memory(one.offered, one.number) if one.shares else body
        body = body.with_capacity(one.capacity, GPU_MEMORY) if one.capacity else body
        if whole:  # a card that no label names: only whether the node shares memory depends on it
            body = body.offering(1)
        self.node_bodies[name] = body
        self.plain.node_is_seen(name, one, new=known is None or new)
        sharing = SharingNode(one.offered, one.number, whole=whole, capacity=one.capacity)
        self.held.node(name, sharing)
        see(self.ledger, body)

    @rule(name=nodes)
    def a_node_is_deleted(self, name: str) -> None:
        self.node_bodies.pop(name, None)
        self.plain.node_is_gone(name)
        self.held.node_gone(name)
        self.ledger.node_gone(name)

    # --- queues ---------------------------------------------------------------------------

    @rule(name=queues, quota=texts)
    def a_queue_is_written(self, name: str, quota: dict[str, int] | None) -> None:
        text = "{" if quota is None else json.dumps(quota)
        body = a_queue(name).with_quota_text(text).at_revision(self.next())
        before = self.plain.queues.get(name, {})
        self.plain.queues[name] = before if quota is None else quota  # Q4: the last good one
        self.queue_bodies[name] = body
        see(self.ledger, body)

    @rule(name=queues)
    def a_queue_is_deleted(self, name: str) -> None:
        self.queue_bodies.pop(name, None)
        self.plain.queues.pop(name, None)
        self.ledger.queue_gone(name)

    @rule(random=st.randoms(use_true_random=False))
    def everything_is_listed_again(self, random: Any) -> None:
        things = [*self.pod_bodies.values(), *self.queue_bodies.values()]
        things += self.node_bodies.values()
        random.shuffle(things)
        see(self.ledger, *things)

    # --- what must hold at every moment -----------------------------------------------------

    @invariant()
    def it_is_what_a_plain_count_says(self) -> None:
        self.plain.bound_pods_take_their_nodes_card()
        self.ledger.reassessment.read_overdue()
        assert self.ledger.counts(GPU_MEMORY) == self.plain.limited
        assert sums_of(self.ledger) == self.plain.totals()
        assert drift(self.ledger) == {}
        waiting = {a.name: set(a.pending.uids()) for a in self.ledger.accounts() if a.pending}
        assert waiting == self.plain.waiting()
        self.there_is_room_for_what_the_quota_leaves()

    def there_is_room_for_what_the_quota_leaves(self) -> None:
        """E2, by plain sums."""
        for name in self.plain.queues:
            account = self.ledger.account(name)
            assert account is not None
            for card in account.quota:
                for amount in (1, 3, 700, 2_048):
                    one = PodRequest((card,), GPU_MEMORY, amount, 0, 0)
                    found = bool(QueueRoom(account).choose(one)[0])
                    assert found == self.plain.fits(name, card, amount), (name, card, amount)

    @invariant()
    def what_nodes_have_is_counted(self) -> None:
        found = self.ledger.nodes
        assert found.totals() == self.plain.cluster_totals()
        assert {name for name, text in found.problems if " is counted in " in text} == (
            self.plain.other_units()
        )
        for card in CARDS:
            sums = Counter[int]()
            for rows in found.free.by_taints(card).values():
                sums.update(rows)
            assert sums == self.plain.free_sums(card), card
            assert found.free.most_on_node(card) == max(0, self.plain.most_at_once(card)), card

    @invariant()
    def what_single_cards_have_is_counted(self) -> None:
        assert self.held.wrong(self.ledger.card_memory) == []
        found = {unit: use for unit, use in unlimited_use(self.ledger).items() if use[0]}
        assert found == self.plain.unlimited()

    def teardown(self) -> None:
        for uid in list(self.plain.pods):
            self.ledger.pod_gone(uid)
        for name in (*QUEUES, *NODES):
            self.ledger.queue_gone(name)
            self.ledger.node_gone(name)
        assert left_over(self.ledger) == {}


MemoryRows.TestCase.settings = settings(stateful_step_count=40)

TestMemoryRows = pytest.mark.slow(MemoryRows.TestCase)

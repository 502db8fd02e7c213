"""I1, I3: whatever happens, a queue is charged more only by a decision of release, or by a pod that
came past admission and is first seen on its node, whose queue is open to its namespace.

The oracle knows nothing of how the ledger finds a queue: it looks at what each step may add, and at
what has been added.
"""

from collections import Counter
from typing import Any

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from builders import CARDS, H200, Body, a_group, a_ledger, a_namespace, a_pod, a_queue, see
from builders.group import GroupBody
from builders.pod import PodBody
from builders.queue import QueueBody
from cardquota.quota import Stamp
from cardquota.quota import vocabulary as v
from cardquota.quota.ledger import Ledger
from cardquota.quota.pods import PodRecord
from cardquota.quota.release import Refusal
from cardquota.quota.release.cycle import openings
from cardquota.quota.reports.drift import drift

QUEUES = ("red", "blue")
NAMESPACES = ("team", "other")
GROUPS = ("gang", "podgroup-0d9c39a2-8a4b-4c39-9d0e-3f4d2f0e6a11")
MODES = (None, "enforced", "audit", "off")
GI = 2**30

queues = st.sampled_from(QUEUES)
some_queue = st.sampled_from((None, *QUEUES))
some_group = st.sampled_from((None, None, *GROUPS))
namespaces = st.sampled_from(NAMESPACES)
picks = st.integers(0, 1_000)


class MovingCharges(RuleBasedStateMachine):
    """A leader and another replica see the same events while all around the pods changes."""

    def __init__(self) -> None:
        super().__init__()
        self.revision = 100
        self.pods: dict[str, PodBody] = {}
        self.others: dict[tuple[str, str], Body] = {}
        for name in QUEUES:
            self.keep(a_queue(name).with_quota({H200: 3}).limited_to(memory="100Gi"))
        for name in NAMESPACES:
            self.keep(a_namespace(name))
            for group in GROUPS:
                self.keep(a_group(group).in_namespace(name).in_queue("red").of(1))
        self.seen_on_node: set[str] = set()
        self.seen_enforced: set[str] = set()
        """Those that came past admission while rules were enforced."""
        self.was_charged_in: dict[str, str] = {}
        """Of pods that came past admission: where they stay (I3)."""
        self.ledger, self.replica = self.a_replica(), self.a_replica()
        self.before = charged(self.ledger)
        self.may_add: Counter[tuple[str, str]] = Counter()

    def keep(self, body: Body) -> None:
        name = body.key if isinstance(body, GroupBody) else body.name
        self.others[type(body).__name__, name] = body

    def a_replica(self) -> Ledger:
        ledger = a_ledger(*CARDS, *self.others.values(), *self.pods.values())
        ledger.fix_queues()
        return ledger

    def next(self) -> int:
        self.revision += 1
        return self.revision

    def tell(self, body: Body) -> None:
        body = body.at_revision(self.next())
        if isinstance(body, PodBody):
            self.pods[body.uid] = body
            self.note_what_comes_on_its_node(body)
        else:
            self.keep(body)
        see(self.ledger, body)
        see(self.replica, body)

    # --- what a step may add ----------------------------------------------------------------

    def note_what_comes_on_its_node(self, pod: PodBody) -> None:
        """It counts from now on, if we did not open its gate and its queue is open to it. One that
        came past admission where rules are enforced counts as soon as it is seen.
        """
        facts, notes = pod.facts(), pod.body["metadata"].get("annotations", {})
        gated = bool(pod.body["spec"].get("schedulingGates"))
        there = bool(pod.body["status"].get("conditions")) if "status" in pod.body else False
        at_once = not gated and self.mode(facts.namespace) in (None, "enforced")
        if at_once:
            self.seen_enforced.add(facts.uid)
        if v.ALLOCATED in notes or facts.uid in self.seen_on_node or not (there or at_once):
            return
        if there:
            self.seen_on_node.add(facts.uid)
        for queue in QUEUES:
            open_to_it = self.mode(facts.namespace) != "off" and self.is_open(
                queue, facts.namespace
            )
            if open_to_it or self.was_charged_in.get(facts.uid) == queue:
                self.may_add[queue, H200] += 1
                self.may_add[queue, "memory"] += facts.memory

    def mode(self, namespace: str) -> str | None:
        labels = self.others["NamespaceBody", namespace].body["metadata"].get("labels") or {}
        found: str | None = labels.get(v.NAMESPACE_MODE)
        return found

    def is_open(self, queue: str, namespace: str) -> bool:
        notes = self.others["QueueBody", queue].body["metadata"]["annotations"]
        return namespace in notes.get(v.NAMESPACES, namespace)

    def one(self, pick: int) -> PodBody | None:
        return self.pods[sorted(self.pods)[pick % len(self.pods)]] if self.pods else None

    @invariant()
    def nothing_is_charged_that_nobody_has_judged(self) -> None:
        after = charged(self.ledger)
        for key, amount in (after - self.before).items():
            assert amount <= self.may_add[key], (key, self.before, after, self.may_add)
        self.before, self.may_add = after, Counter()
        for uid, record in self.ledger.pods.items():
            if record.held and record.stamp is None and record.queue:
                self.was_charged_in.setdefault(uid, record.queue)

    @invariant()
    def where_nothing_is_enforced_nothing_counts_before_it_is_on_its_node(self) -> None:
        """Unless it came past admission while rules were enforced: then it stays where it was."""
        for uid, record in self.ledger.pods.items():
            if uid in self.seen_enforced:
                continue
            enforced = self.mode(record.facts.namespace) in (None, "enforced")
            if not enforced and record.stamp is None and not record.facts.on_its_node:
                assert (record.queue, record.charge) == ("", ())

    @invariant()
    def the_recount_agrees(self) -> None:
        assert drift(self.ledger) == {}
        assert drift(self.replica) == {}

    @invariant()
    def both_replicas_have_it_in_the_same_queue(self) -> None:
        for uid, record in self.ledger.pods.items():
            if record.stamp is None:
                assert self.replica.pods[uid].queue == record.queue

    # --- pods ---------------------------------------------------------------------------------

    def a_new_pod(
        self, namespace: str, queue: str | None, group: str | None, memory: int
    ) -> PodBody:
        pod = a_pod(f"p{self.next()}").in_namespace(namespace).in_queue(queue).in_group(group)
        return pod.asking_for(1).with_memory(f"{memory}Gi")

    @rule(namespace=namespaces, queue=some_queue, group=some_group, memory=st.integers(1, 9))
    def a_pod_waits(
        self, namespace: str, queue: str | None, group: str | None, memory: int
    ) -> None:
        self.tell(self.a_new_pod(namespace, queue, group, memory).gated())

    @rule(
        namespace=namespaces,
        queue=some_queue,
        group=some_group,
        state=st.sampled_from(("open", "named", "bound")),
    )
    def a_pod_comes_past_admission(
        self, namespace: str, queue: str | None, group: str | None, state: str
    ) -> None:
        pod = self.a_new_pod(namespace, queue, group, 1)
        if state != "open":
            pod = pod.on_node("h200-a", *([None] if state == "named" else []))
        self.tell(pod)

    @rule(pick=picks)
    def a_pod_comes_on_a_node(self, pick: int) -> None:
        pod = self.one(pick)
        if pod is not None and not pod.body["spec"].get("schedulingGates"):
            self.tell(pod.on_node("h200-a"))

    @rule(pick=picks)
    def a_pod_goes(self, pick: int) -> None:
        pod = self.one(pick)
        if pod is not None:
            del self.pods[pod.uid]
            self.ledger.pod_gone(pod.uid)
            self.replica.pod_gone(pod.uid)

    @rule(pick=picks, queue=some_queue, group=some_group)
    def a_pod_names_another_queue_or_group(
        self, pick: int, queue: str | None, group: str | None
    ) -> None:
        """Where no policy forbids it, or Volcano gives it a group, or at its gate."""
        pod = self.one(pick)
        if pod is not None:
            self.tell(pod.in_queue(queue).in_group(group))

    @rule(pick=picks, asked=st.integers(1, 90), node=st.integers(1, 90))
    def a_pod_is_resized(self, pick: int, asked: int, node: int) -> None:
        pod = self.one(pick)
        if pod is None or not pod.facts().node:
            return
        record = self.ledger.pods[pod.uid]
        had = dict(record.charge).get("memory", 0)  # maybe less than it asks for, and may have (I3)
        status = {"name": "main", "resources": {"requests": {"memory": f"{node}Gi"}}}
        pod = pod.with_memory(f"{asked}Gi").put([status], "status", "containerStatuses")
        assert pod.facts().memory == max(asked, node) * GI
        if record.queue:
            self.may_add[record.queue, "memory"] += max(0, pod.facts().memory - had)
        self.tell(pod)

    # --- what is around them --------------------------------------------------------------------

    @rule(name=namespaces, mode=st.sampled_from(MODES), queue=some_queue)
    def a_namespace_changes(self, name: str, mode: str | None, queue: str | None) -> None:
        self.tell(a_namespace(name).in_mode(mode).with_default_queue(queue))

    @rule(name=namespaces, mode=st.sampled_from(("audit", "off")), queue=queues)
    def pods_come_while_a_namespace_is_lax(self, name: str, mode: str, queue: str) -> None:
        self.a_namespace_changes(name=name, mode=mode, queue=None)
        self.a_pod_comes_past_admission(namespace=name, queue=queue, group=None, state="open")
        self.a_namespace_changes(name=name, mode="enforced", queue=None)

    @rule(name=queues, to=st.sampled_from((NAMESPACES, NAMESPACES, NAMESPACES[:1], ())))
    def a_queue_is_open_to_others(self, name: str, to: tuple[str, ...]) -> None:
        queue = self.others["QueueBody", name]
        assert isinstance(queue, QueueBody)
        self.tell(queue.open_to(*to))

    @rule(namespace=namespaces, name=st.sampled_from(GROUPS), queue=queues)
    def a_group_moves(self, namespace: str, name: str, queue: str) -> None:
        self.tell(a_group(name).in_namespace(namespace).in_queue(queue).of(1))

    # --- the leader -----------------------------------------------------------------------------

    @rule(queue=st.sampled_from(("", *QUEUES)))
    def all_that_fits_is_released(self, queue: str) -> None:
        opened: list[tuple[PodRecord, Stamp]] = []
        for found in openings(self.ledger, queue):
            if isinstance(found, Refusal):
                continue
            for record, cards in found.pods:
                stamp = Stamp(found.queue, cards, "term-1")
                self.ledger.decisions.assume(record.facts.uid, stamp)
                opened.append((record, stamp))
                self.may_add[queue, H200] += queue != ""
                self.may_add[queue, "memory"] += record.facts.memory if queue else 0
        after = charged(self.ledger)
        assert all(after[queue, H200] <= 3 or after[queue, H200] <= self.before[queue, H200]
                   for queue in QUEUES)  # fmt: skip
        for record, stamp in opened:
            pod = self.pods[record.facts.uid].ungated().managed().annotated(v.TERM, stamp.term)
            self.tell(pod.stamped(stamp.queue, dict(stamp.cards)) if stamp.queue else pod)

    def what_is_to_be_written(self) -> dict[str, dict[str, Any]]:
        records = [self.ledger.pods[uid] for uid in sorted(self.ledger.unnoted)]
        return {
            one.facts.uid: {
                **({v.TERM: "term-1"} if one.audited else {}),
                **({v.CHARGED_QUEUE: one.fixed} if one.fixed is not None else {}),
            }
            for one in records
        }

    @rule()
    def what_the_leader_writes_lands(self) -> None:
        for uid, notes in self.what_is_to_be_written().items():
            pod = self.pods[uid].managed()
            for key, value in notes.items():
                pod = pod.annotated(key, value)
            self.tell(pod)

    @rule()
    def the_leader_fails(self) -> None:
        list(self.ledger.decisions.end_term_in_steps())
        self.ledger, self.replica = self.replica, self.ledger

    @rule()
    def the_operator_restarts(self) -> None:
        """All replicas at once. Nothing is known any more but what stands on the objects."""
        self.what_the_leader_writes_lands()
        assert not self.what_is_to_be_written()
        self.nothing_is_charged_that_nobody_has_judged()
        self.ledger, self.replica = self.a_replica(), self.a_replica()
        assert charged(self.ledger) == self.before


def charged(ledger: Ledger) -> Counter[tuple[str, str]]:
    """Released or bound, by queue and dimension."""
    return Counter(
        {
            (account.name, dimension): row.charged
            for account in ledger.accounts()
            for dimension, row in account.rows.items()
            if account.name and row.charged
        }
    )


MovingCharges.TestCase.settings = settings(stateful_step_count=40)
TestCharges = pytest.mark.slow(MovingCharges.TestCase)

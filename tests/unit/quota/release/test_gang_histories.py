"""I1, T2, T3: gangs that move between queues, grow, shrink and are made anew while members run.

The same histories as of `test_ledger_recount`, and the same questions after each step, with few
things that meet often: two queues whose quotas go up and down, two groups, two cards, and pods that
may use either.
"""

import json
from typing import Any

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from builders import GPU, H200, H800, see

from ..any_cluster import GROUPS, QUEUES, body_of, picks, policies, requests
from ..ledger.test_ledger_recount import Histories

EITHER = f"{H200}|{H800}"

amounts = st.integers(0, 5)
cards = st.sampled_from((H200, H800, EITHER, f"{H800}|{H200}"))
groups = st.sampled_from(GROUPS)
queues = st.sampled_from(QUEUES)


class GangHistories(RuleBasedStateMachine):
    """Tells a history of its own choice to another machine."""

    def __init__(self) -> None:
        super().__init__()
        self.told = Histories()

    @initialize()
    def two_nodes_and_two_queues(self) -> None:
        self.told.a_node_is_seen(name="node-a", kind="h200", new=True)
        self.told.a_node_is_seen(name="node-b", kind="h800", new=True)
        for queue in QUEUES:
            self.a_quota_is_written(queue, 3, 3, None, opens=False)
        for group in GROUPS:
            self.a_group_is_written(group, "red", 2, opens=False)

    def open_all(self, *, opens: bool) -> None:
        for queue in QUEUES if opens else ():
            self.told.all_that_fits_is_opened(queue=queue)

    @rule(name=queues, h200=amounts, h800=amounts, policy=policies, opens=st.booleans())
    def a_quota_is_written(
        self, name: str, h200: int, h800: int, policy: str | None, opens: bool
    ) -> None:
        text = json.dumps({H200: h200, H800: h800})
        self.told.a_queue_is_written(name=name, text=text, policy=policy, report=None)
        self.open_all(opens=opens)

    @rule(name=groups, queue=queues, of=st.integers(1, 4), opens=st.booleans())
    def a_group_is_written(self, name: str, queue: str, of: int, opens: bool) -> None:
        self.told.a_group_is_written(name=name, queue=queue, of=of)
        self.open_all(opens=opens)

    @rule(name=groups, name_of=st.sampled_from((None, "high", "low")))
    def a_group_gets_a_priority_class(self, name: str, name_of: str | None) -> None:
        told = self.told
        body = told.group_bodies.get(f"team/{name}")
        if body is not None:
            told.tell_group(body.put(name_of, "spec", "priorityClassName").at_revision(told.next()))

    @rule(name=st.sampled_from(("high", "low")), value=st.sampled_from((None, -5, 5, 1_000)))
    def a_priority_class_is_written(self, name: str, value: int | None) -> None:
        if value is None:
            self.told.ledger.priority_class_gone(name)
        else:
            self.told.ledger.priority_class_seen(name, value)

    @rule(name=groups)
    def a_group_is_deleted(self, name: str) -> None:
        self.told.a_group_is_deleted(name=name)

    def shape(
        self, group: str | None, queue: str | None, names: str, amount: int
    ) -> dict[str, Any]:
        return {
            "namespace": "team",
            "own_queue": queue,
            "group": group,
            "cards": names if amount else None,
            "devices": {GPU: amount} if amount else {},
            "cpu": 500,
            "memory": 0,
            "job": False,
            "products": None,
            "created": "2026-01-01T00:00:00Z",
        }

    @rule(
        group=groups,
        names=cards,
        amount=st.sampled_from((1, 1, 2, 0)),
        many=st.integers(1, 4),
        opens=st.booleans(),
    )
    def members_are_created(
        self, group: str, names: str, amount: int, many: int, opens: bool
    ) -> None:
        for _ in range(many):
            self.told.a_gated_pod_is_created(shape=self.shape(group, None, names, amount))
        self.open_all(opens=opens)

    @rule(group=groups, names=cards, past=cards, h200=amounts, h800=amounts)
    def a_member_is_lost_and_made_again_beside_pods_that_got_past_us(
        self, group: str, names: str, past: str, h200: int, h800: int
    ) -> None:
        """What it held is reserved still; and meanwhile the quota has changed."""
        self.members_are_created(group, names, 1, 3, opens=True)
        plain = self.told.plain
        held = [uid for uid, pod in sorted(plain.pods.items()) if pod.assumed and pod.group]
        for uid in held[-1:]:
            queue = plain.queue_of(plain.pods[uid])
            self.told.ledger.pod_gone(uid)
            self.told.forget(uid)
            self.a_pod_gets_past_admission(queue, None, past)
            self.a_quota_is_written(queue, h200, h800, None, opens=True)
            self.members_are_created(group, names, 1, 1, opens=True)

    def what_is_written_to_it_is_refused(self, group: str) -> None:
        """It is deleted. Until that is known no gate of one of that name is opened."""
        ledger, key = self.told.ledger, f"team/{group}"
        state = ledger.groups.get(key)
        for reservation in state.unwritten if state is not None else ():
            ledger.decisions.retract_reservation(key, reservation)

    def a_gang_starts(self, group: str, queue: str, amount: int) -> list[str]:
        """Of two, with room; who waited or ran before does so no more. Its members."""
        for uid, pod in sorted(self.told.plain.pods.items()):
            if pod.group == f"team/{group}" or self.told.plain.queue_of(pod) in QUEUES:
                self.told.ledger.pod_gone(uid)
                self.told.forget(uid)
        for name in QUEUES:
            self.a_quota_is_written(name, 5, 5, "Gate", opens=False)
        self.a_group_is_deleted(group)
        self.what_is_written_to_it_is_refused(group)
        self.a_group_is_written(group, queue, 2, opens=False)
        before = set(self.told.plain.pods)
        self.members_are_created(group, H200, amount, 2, opens=True)
        self.a_reservation_lands(group)
        return sorted(self.told.plain.pods.keys() - before)

    @rule(group=groups, queue=queues, amount=st.integers(1, 2), more=st.integers(0, 1))
    def a_gang_runs_moves_and_needs_one_more(
        self, group: str, queue: str, amount: int, more: int
    ) -> None:
        """What it holds where it was is no part of what is reserved where it is now."""
        self.a_gang_starts(group, queue, amount)
        self.a_group_is_written(group, QUEUES[queue == QUEUES[0]], 3, opens=False)
        self.members_are_created(group, H200, more, 1, opens=True)
        self.all_holds()

    @rule(group=groups, queue=queues, h200=amounts, h800=amounts, taken=st.integers(1, 5))
    def a_gang_loses_its_members_and_others_take_what_they_like(
        self, group: str, queue: str, h200: int, h800: int, taken: int
    ) -> None:
        """What is reserved for it is still, and others may hold either card, or more than there is
        by now.
        """
        for uid in self.a_gang_starts(group, queue, 1):
            self.told.ledger.pod_gone(uid)
            self.told.forget(uid)
        past = self.shape(None, queue, f"{H200}|{H800}", taken)
        self.told.a_pod_gets_past_admission(shape=past)
        self.a_quota_is_written(queue, h200, h800, "Gate", opens=False)
        self.members_are_created(group, H200, 1, 1, opens=True)

    def a_gang_runs(self, group: str, queue: str) -> list[str]:
        """Of two, bound, and nothing is reserved for it any more. Its members. None that succeeded
        before is left: it would count for the minimum.
        """
        for uid in [uid for uid, of in self.told.succeeded.items() if of == f"team/{group}"]:
            self.told.ledger.pod_gone(uid)
            del self.told.succeeded[uid]
        members = self.a_gang_starts(group, queue, 1)
        for minute, uid in enumerate(members):
            pod = self.told.plain.pods[uid]
            pod.state, pod.stamp, pod.assumed, pod.node = "bound", pod.assumed, None, "node-a"
            pod.scheduled = f"2026-01-01T02:{minute:02}:00Z"
            self.told.tell(pod)
        self.a_reservation_ends(group)
        return members

    def dies(self, uid: str, death: str) -> None:
        """It fails, is deleted, or is being deleted, and holds its card a moment longer."""
        pod = self.told.plain.pods[uid]
        if death == "fails":
            see(self.told.ledger, body_of(pod, self.told.next()).in_phase("Failed"))
            self.told.finished.append(uid)
        elif death == "is deleted":
            self.told.ledger.pod_gone(uid)
        else:
            pod.terminating = True
            self.told.tell(pod)
            return
        self.told.forget(uid)

    @rule(
        group=groups,
        queue=queues,
        first=st.booleans(),
        death=st.sampled_from(("fails", "is deleted", "is terminated")),
        extra=st.integers(0, 1),
        left=st.integers(0, 2),
    )
    def a_member_dies_while_the_others_run_and_is_replaced(
        self, group: str, queue: str, first: bool, death: str, extra: int, left: int
    ) -> None:
        """One comes for it, and starts beside those that run, as soon as there is room. Who was
        elastic is of the minimum by then. `left`: room for so many more.
        """
        self.a_group_is_deleted(GROUPS[group == GROUPS[0]])  # and with it what is reserved for it
        members = self.a_gang_runs(group, queue)
        self.members_are_created(group, H200, 1, extra, opens=True)
        before = self.told.started(f"team/{group}")
        self.dies(members[0] if first else members[-1], death)
        self.all_holds()
        died = before - self.told.started(f"team/{group}")
        assert died == (death != "is terminated")
        held = sum(
            sums.allocated + sums.inqueue
            for (name, card), sums in self.told.plain.totals().items()
            if (name, card) == (queue, H200)
        )
        self.a_quota_is_written(queue, held + left, 5, "Gate", opens=False)
        self.members_are_created(group, H200, 1, 1, opens=True)
        assert self.told.started(f"team/{group}") == before - died + min(1, left)
        self.all_holds()

    @rule(name=groups, asked=requests, opens=st.booleans())
    def a_group_asks(self, name: str, asked: dict[str, int] | None, opens: bool) -> None:
        self.told.a_group_asks_for_something(name=name, request=asked)
        self.open_all(opens=opens)

    @rule(
        queue=queues,
        asked=st.sampled_from(({H200: 2}, {H200: 3}, {EITHER: 2}, {H200: 1, EITHER: 1})),
        elastic=st.integers(0, 3),
        quota=st.integers(1, 4),
        names=cards,
        lands=st.booleans(),
        dies=st.sampled_from(("nobody", "fails", "is deleted")),
    )
    def a_group_is_enqueued_beside_elastic_pods_and_its_pods_come(
        self, queue: str, asked: dict[str, int], elastic: int, quota: int, names: str,
        lands: bool, dies: str,
    ) -> None:  # fmt: skip
        """E1, T2: reserved over elastic pods, used by its own pods alone, and by all or none."""
        service, gang = GROUPS[:2]
        members = self.a_gang_runs(service, queue)
        self.a_group_is_deleted(gang)
        self.a_group_is_written(service, queue, max(0, 2 - elastic), opens=False)
        self.a_quota_is_written(queue, max(2, quota), 1, "Gate", opens=False)
        self.a_group_is_written(gang, queue, 2, opens=False)
        self.a_group_asks(gang, asked, opens=True)
        if lands:
            self.a_reservation_lands(gang)
        self.all_holds()
        if dies != "nobody":
            self.dies(members[0], dies)
        before = self.told.started(f"team/{gang}")  # members of an earlier one that succeeded
        for _ in range(2):
            self.members_are_created(gang, names, 1, 1, opens=True)
            now = self.told.started(f"team/{gang}")
            assert now == before or now >= 2
            self.all_holds()

    @rule(group=groups, names=cards, of=st.integers(2, 4), queue=queues)
    def a_gang_comes_one_member_after_the_other(
        self, group: str, names: str, of: int, queue: str
    ) -> None:
        """First the members, which name their queue, then the group; what is there is tried after
        each.
        """
        self.a_group_is_deleted(group)
        self.a_quota_is_written(queue, 5, 5, "Gate", opens=False)
        for _ in range(of - 1):
            self.told.a_gated_pod_is_created(shape=self.shape(group, queue, names, 1))
        self.open_all(opens=True)
        self.a_group_is_written(group, queue, of, opens=True)
        self.members_are_created(group, names, 1, 1, opens=True)

    @rule(queue=queues, names=cards, amount=st.integers(1, 2))
    def a_pod_of_no_group_is_created(self, queue: str, names: str, amount: int) -> None:
        self.told.a_gated_pod_is_created(shape=self.shape(None, queue, names, amount))

    @rule(queue=queues, group=st.sampled_from((None, *GROUPS)), names=cards)
    def a_pod_gets_past_admission(self, queue: str, group: str | None, names: str) -> None:
        named = None if group else queue
        self.told.a_pod_gets_past_admission(shape=self.shape(group, named, names, 1))

    @rule(pick=picks, lands=st.integers(1, 4), node=st.sampled_from((None, "node-a", "node-b")))
    def gates_are_seen_open(self, pick: int, lands: int, node: str | None) -> None:
        told = self.told
        for _ in range(lands):
            told.our_patch_lands(pick=pick)
            if told.landed:
                told.the_event_of_our_patch_comes(pick=pick, confirmed_after=False)
            if node:
                told.a_pod_is_bound(pick=pick, node=node, minute=pick % 60)

    @rule(pick=picks)
    def a_gate_is_refused(self, pick: int) -> None:
        self.told.our_patch_is_refused(pick=pick, back_off=False)

    @rule(name=groups)
    def a_reservation_lands(self, name: str) -> None:
        self.told.the_reservation_of_a_gang_lands(name=name, confirmed="after")

    @rule(name=groups)
    def a_reservation_ends(self, name: str) -> None:
        self.told.a_reservation_is_removed(name=name)

    @rule(pick=picks)
    def a_pod_is_deleted(self, pick: int) -> None:
        self.told.a_pod_is_deleted(pick=pick)

    @rule(pick=picks, phase=st.sampled_from(("Succeeded", "Failed")))
    def a_pod_finishes(self, pick: int, phase: str) -> None:
        self.told.a_pod_finishes(pick=pick, phase=phase)

    @invariant()
    def all_holds(self) -> None:
        self.told.the_totals_are_what_the_rules_say()
        self.told.the_ledger_equals_a_recount_of_itself()
        self.told.there_is_room_for_what_the_quota_leaves()
        self.told.who_is_on_the_way_counts_with_one_card()
        self.told.what_was_noted_of_those_who_wait_hides_nobody_who_fits()
        self.told.accounts_exist_for_a_reason()

    def teardown(self) -> None:
        for name in ("high", "low"):
            self.told.ledger.priority_class_gone(name)
        self.told.teardown()


GangHistories.TestCase.settings = settings(stateful_step_count=40)

TestGangHistories = pytest.mark.slow(GangHistories.TestCase)

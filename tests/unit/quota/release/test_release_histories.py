"""E2, E6: what opens does not depend on when events come, nor on where passes were left.

Passes are left after any step and events come between any two, while gangs grow, shrink, end and
are made again. Whenever all is looked at, nothing would open in a ledger that is told all objects
as they are then. By dice: what meets has to meet often.
"""

import random
from datetime import datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from builders import CARDS, H200, H800, Body, a_group, a_ledger, a_pod, a_queue, see
from builders.pod import PodBody
from cardquota.quota.accounts import Account
from cardquota.quota.pending import pending_notices
from cardquota.quota.pending import pending_queue as waiting
from cardquota.quota.pods import State
from cardquota.quota.release import Opening, Starvation, next_refusals, release_cycle
from cardquota.quota.reports.drift import drift

from ..plain_order import walk

XPU = "XPU-9"
QUEUES = ("red", "red", "red", "blue")
GROUPS = ("g1", "g2")
CHOICES = (H200, H200, H800, f"{H200}|{H800}", f"{H800}|{H200}")
OF_NO_GANG = (*CHOICES, f"{H200}|{XPU}")
"""A gang of which a member asks for a card that nobody knows waits for that or for room: which of
both it was found to wait for depends on when it was judged.
"""
EVENTS = 60
SOME_HAVE_WAITED_TOO_LONG = Starvation(
    datetime.fromisoformat("2026-01-02T00:00:05Z").timestamp(), 24 * 3_600
)
"""Groups, and the pods of the first seconds."""


class ReleaseHistory:
    """Two queues, two groups, and some pods. What is decided is written and seen at once."""

    def __init__(self, seed: int) -> None:
        self.dice = random.Random(seed)
        self.ledger = a_ledger(*CARDS)
        self.world: dict[tuple[str, str], Any] = {}
        self.revision = 0
        self.pending: set[str] = set()
        self.fifo = self.dice.random() < 0.3
        self.starvation = self.dice.choice((None, SOME_HAVE_WAITED_TOO_LONG))
        for name in ("red", "blue"):
            self.a_queue_is_written(name)
        for name in GROUPS:
            self.a_group_is_written(name)
        self.happenings = (
            *4 * (self.pods_wait,),
            *3 * (lambda: self.a_group_is_written(self.dice.choice(GROUPS)),),
            *3 * (self.pods_that_go_are_bound_or_end,),
            *2 * (self.those_that_have_succeeded_are_deleted,),
            lambda: self.a_queue_is_written(self.dice.choice(QUEUES)),
            self.a_group_is_made_again,
            self.a_group_is_deleted,
            self.a_reservation_is_taken_away,
            self.a_pod_is_deleted,
        )

    def go_on(self) -> None:
        self.dice.choice(self.happenings)()
        if self.dice.random() < 0.7:
            self.a_pass_is_left(self.dice.choice(QUEUES), self.dice.choice((1, 2, 3, 5, 8, 1_000)))
        if self.dice.random() < 0.3:
            self.some_are_told(self.dice.choice(QUEUES))
        if self.dice.random() < 0.1:
            self.all_is_looked_at()

    # --- what is told -------------------------------------------------------------------------

    def put(self, kind: str, name: str, body: Body) -> None:
        self.revision += 1
        self.world[kind, name] = body.at_revision(self.revision)
        see(self.ledger, self.world[kind, name])

    def a_queue_is_written(self, name: str) -> None:
        dice = self.dice
        quota = {card: dice.randint(0, 4) for card in (H200, H800)}
        if dice.random() < 0.3:
            quota[XPU] = dice.randint(0, 1)
        queue = a_queue(name).with_quota(quota)
        if dice.random() < 0.3:
            queue = queue.limited_to(cpu=str(dice.randint(1, 6)))
        if dice.random() < 0.5:
            queue = queue.with_policy(dice.choice(("Deny", "Gate")))
        self.put("queue", name, queue.fifo() if self.fifo and name == "red" else queue)

    def a_group_is_written(self, name: str) -> None:
        known = self.world.get(("group", name)) or a_group(name).in_queue(self.dice.choice(QUEUES))
        self.put("group", name, known.of(self.dice.randint(0, 4)))

    def a_group_is_made_again(self) -> None:
        """Its deletion is not always seen."""
        name = self.dice.choice(GROUPS)
        if self.dice.random() < 0.5:
            self.a_group_is_deleted(name)
        group = a_group(name).in_queue(self.dice.choice(QUEUES)).of(self.dice.randint(0, 4))
        self.put("group", name, group.with_uid(f"{name}-{self.revision}"))

    def a_group_is_deleted(self, name: str = "") -> None:
        name = name or self.dice.choice(GROUPS)
        if self.world.pop(("group", name), None) is not None:
            self.ledger.group_gone(f"team/{name}")

    def a_reservation_is_taken_away(self) -> None:
        name = self.dice.choice(GROUPS)
        if ("group", name) in self.world:
            known = self.world["group", name]
            self.put("group", name, known.annotated("volcano.sh/card.reservation", None))

    def pods_wait(self) -> None:
        dice = self.dice
        group = dice.choice((None, *GROUPS, *GROUPS))
        for _ in range(dice.randint(1, 3)):
            name = f"p{self.revision:03}"
            card = dice.choice(CHOICES if group else OF_NO_GANG)
            pod = a_pod(name).naming(card).asking_for(dice.choice((1, 1, 2)))
            pod = pod.with_cpu(dice.choice(("0", "1", "1", "2"))).gated()
            pod = pod.in_group(group) if group else pod.in_queue(dice.choice(QUEUES))
            pod = pod.in_queue(None) if group else pod
            self.put("pod", name, pod.created(f"2026-01-01T00:00:{dice.randint(0, 9):02}Z"))

    def pods_that_go_are_bound_or_end(self) -> None:
        dice = self.dice
        going = self.pods(State.OPEN, State.BOUND)
        phase = dice.choice((None, None, "Succeeded", "Succeeded", "Failed"))
        for name in dice.sample(going, min(len(going), dice.randint(1, 3))):
            pod = self.pod(name)
            if pod.facts().state is State.OPEN:
                pod = pod.on_node("h200-a", f"2026-01-01T01:00:{dice.randint(0, 59):02}Z")
            self.put("pod", name, pod.in_phase(phase) if phase else pod)

    def those_that_have_succeeded_are_deleted(self) -> None:
        """As a Job's ttlSecondsAfterFinished has it done."""
        for name in self.pods(State.SUCCEEDED):
            self.delete(name)

    def a_pod_is_deleted(self) -> None:
        if found := [name for kind, name in self.world if kind == "pod"]:
            self.delete(self.dice.choice(found))

    def delete(self, name: str) -> None:
        self.ledger.pod_gone(self.world.pop(("pod", name)).uid)

    def pod(self, name: str) -> PodBody:
        found = self.world["pod", name]
        assert isinstance(found, PodBody)
        return found

    def pods(self, *states: State) -> list[str]:
        found = [name for kind, name in self.world if kind == "pod"]
        return [name for name in found if self.pod(name).facts().state in states]

    # --- what is decided ----------------------------------------------------------------------

    def a_pass_is_left(self, queue: str, steps: int) -> None:
        self.pending |= self.ledger.dirty.pending.take() | {queue}
        account = self.ledger.account(queue)
        passes = release_cycle(self.ledger, account, starvation=self.starvation) if account else ()
        for found in passes:
            if found is not None and account is not None:
                self.open(account, found)
            steps -= 1
            if not steps:
                return
        self.pending.discard(queue)

    def some_are_told(self, queue: str) -> None:
        account = self.ledger.account(queue)
        for _ in range(self.dice.randint(1, 9)):
            if account is not None:
                next_refusals(self.ledger, account)

    def open(self, account: Account, found: Opening) -> None:
        would = {
            id(one.gang or one.pods[0][0]) for _, one in walk(self.ledger, account, self.starvation)
        }
        assert id(found.gang or found.pods[0][0]) in would, "it is behind one without room"
        for record, _ in found.pods:
            group = self.ledger.groups.get(record.facts.group)
            whole = group is not None and not group.started
            assert found.gang is (group if whole else None)
            assert group is None or not whole or len(found.pods) == group.missing
        before = {d: row.charged for d, row in account.rows.items()}
        if found.gang is not None:
            held = self.ledger.decisions.reserve(found.gang.key, found.queue, "t", found.asked)
            name = found.gang.key.partition("/")[2]
            known = self.world["group", name]
            self.put("group", name, known.reserving(found.queue, dict(held.amounts), "t"))
        for record, cards in found.pods:
            pod = self.pod(record.facts.name).ungated().stamped(found.queue, dict(cards))
            self.put("pod", record.facts.name, pod)
        for dimension, row in account.rows.items():
            limit = account.limit(dimension)
            assert limit is None or row.charged <= max(limit, before.get(dimension, 0))

    def all_is_looked_at(self) -> None:
        for _ in range(1_000):
            self.pending |= self.ledger.dirty.pending.take()
            if not self.pending:
                break
            self.a_pass_is_left(min(self.pending), 1_000)
        else:
            raise AssertionError("it never comes to an end")
        assert drift(self.ledger) == {}
        fresh = a_ledger(*CARDS, *self.world.values())
        for queue in ("red", "blue"):
            account = fresh.account(queue)
            passes = release_cycle(fresh, account, starvation=self.starvation) if account else ()
            found = [step for step in passes if step]
            assert [[record.facts.name for record, _ in one.pods] for one in found] == []
            if account is not None:
                assert list(walk(fresh, account, self.starvation)) == []


@given(seed=st.integers(0, 2**32), at_a_time=st.sampled_from((1, 1, 3, 64)))
def test_nobody_is_forgotten_or_released_alone_whatever_happens_between_two_steps(
    seed: int, at_a_time: int
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(waiting, "AT_A_TIME", at_a_time)
        patch.setattr(pending_notices, "MOST_KEPT", 1)
        history = ReleaseHistory(seed)
        for _ in range(EVENTS):
            history.go_on()
        history.all_is_looked_at()

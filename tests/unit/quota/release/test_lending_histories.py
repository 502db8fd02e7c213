"""L2: after any history nobody has more than he deserves of what is not there, or is kept for
others; who is owed a card has it, and who may have one gets it, as nobody is forgotten.

Recounted by what stands on the objects, and by the rounds as they are written. By dice: what meets
has to meet often.
"""

import random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from builders import H200, H800, Body, a_group, a_ledger, a_node, a_pod, a_queue, see
from builders.pod import PodBody
from cardquota.quota.pods import State
from cardquota.quota.release import Opening, release_cycle
from cardquota.quota.reports.drift import drift

from ..plain_rounds import PlainSharer, rounds, whole

QUEUES = ("red", "blue", "green")
GROUPS = ("g1", "g2")
CARDS = (H200, H800)
CHOICES = (H200, H200, H200, H800, f"{H800}|{H200}")
EVENTS = 50


class LendingHistory:
    """Three queues, two groups, pods and nodes. What is decided is written and seen at once."""

    def __init__(self, seed: int) -> None:
        self.dice = random.Random(seed)
        self.everywhere = self.dice.random() < 0.4
        self.ledger = a_ledger(lends_what_is_there=self.everywhere)
        self.world: dict[tuple[str, str], Any] = {}
        self.rows: dict[str, tuple[dict[str, int], int, dict[str, int], dict[str, int]]] = {}
        """Of each queue quota, weight, what it is owed and what it lends."""
        self.totals = dict.fromkeys(CARDS, 0)
        self.revision = 0
        self.pending: set[str] = set()
        for card in CARDS:
            self.a_node_changes(card)
        for name in QUEUES:
            self.a_queue_is_written(name)
        self.happenings = (
            *5 * (self.pods_wait,),
            *2 * (self.a_group_is_written,),
            *4 * (self.pods_that_go_are_bound_or_end,),
            *2 * (self.a_pod_is_deleted,),
            lambda: self.a_queue_is_written(self.dice.choice(QUEUES)),
            lambda: self.a_node_changes(self.dice.choice(CARDS)),
            self.a_queue_goes,
            self.a_pod_comes_past_admission,
        )

    def go_on(self) -> None:
        self.dice.choice(self.happenings)()
        if self.dice.random() < 0.5:
            self.a_pass_is_left(self.dice.choice(QUEUES), self.dice.choice((1, 2, 4, 1_000)))
        if self.dice.random() < 0.2:
            self.all_is_looked_at()

    # --- what is told -------------------------------------------------------------------------

    def put(self, kind: str, name: str, body: Body) -> None:
        self.revision += 1
        self.world[kind, name] = body.at_revision(self.revision)
        see(self.ledger, self.world[kind, name])

    def a_queue_is_written(self, name: str) -> None:
        dice = self.dice

        def some(most: int, often: float) -> dict[str, int]:
            return {card: dice.randint(0, most) for card in CARDS if dice.random() < often}

        rows = some(7, 0.9), dice.randint(1, 3), some(4, 0.5), some(2, 0.4)
        quota, weight, owed, lends = self.rows[name] = rows
        queue = a_queue(name).with_quota(quota).weighing(weight)
        self.put("queue", name, queue.deserving_cards(owed).lending(lends))

    def a_queue_goes(self) -> None:
        name = self.dice.choice(QUEUES)
        if self.rows.pop(name, None) is not None:
            del self.world["queue", name]
            self.ledger.queue_gone(name)

    def a_node_changes(self, card: str) -> None:
        number = self.dice.choice((0, 2, 4, 6, 8, 8))
        self.totals[card] = number
        self.put("node", card, a_node(card).with_cards(card, number))

    def a_group_is_written(self) -> None:
        name = self.dice.choice(GROUPS)
        known = self.world.get(("group", name)) or a_group(name).in_queue(self.dice.choice(QUEUES))
        if self.dice.random() < 0.4:
            known = known.asking({self.dice.choice(CARDS): self.dice.randint(1, 4)})
        self.put("group", name, known.of(self.dice.randint(1, 3)))

    def pods_wait(self) -> None:
        dice = self.dice
        groups = [name for kind, name in self.world if kind == "group"]
        group = dice.choice((None, *groups))
        for _ in range(dice.randint(1, 3)):
            name = f"p{self.revision:03}"
            pod = a_pod(name).naming(dice.choice(CHOICES)).asking_for(dice.choice((1, 1, 2)))
            pod = pod.gated().created(f"2026-01-01T00:00:{dice.randint(0, 9):02}Z")
            queued = pod.in_queue(None).in_group(group) if group else None
            self.put("pod", name, queued or pod.in_queue(dice.choice(QUEUES)))

    def a_pod_comes_past_admission(self) -> None:
        card = self.dice.choice(CARDS)
        pod = a_pod(f"x{self.revision:03}").asking_for(1).naming(card)
        pod = pod.in_queue(self.dice.choice((*QUEUES, None)))
        self.put("pod", pod.name, pod.on_node(card))

    def pods_that_go_are_bound_or_end(self) -> None:
        dice = self.dice
        going = [name for name in self.pods() if self.pod(name).facts().state in GOING]
        for name in dice.sample(going, min(len(going), dice.randint(1, 3))):
            pod = self.pod(name)
            if pod.facts().state is State.OPEN:
                (card,) = (name for name, _ in pod.facts().stamp.cards)  # type: ignore[union-attr]
                pod = pod.on_node(card, f"2026-01-01T01:00:{dice.randint(0, 59):02}Z")
            phase = dice.choice((None, None, "Succeeded"))
            self.put("pod", name, pod.in_phase(phase) if phase else pod)

    def a_pod_is_deleted(self) -> None:
        if found := self.pods():
            self.ledger.pod_gone(self.world.pop(("pod", self.dice.choice(found))).uid)

    def pod(self, name: str) -> PodBody:
        found = self.world["pod", name]
        assert isinstance(found, PodBody)
        return found

    def pods(self) -> list[str]:
        return [name for kind, name in self.world if kind == "pod"]

    # --- what is decided ----------------------------------------------------------------------

    def a_pass_is_left(self, queue: str, steps: int) -> None:
        self.pending |= self.ledger.dirty.pending.take() | {queue}
        account = self.ledger.account(queue)
        for found in release_cycle(self.ledger, account) if account else ():
            if found is not None:
                self.open(found)
            steps -= 1
            if not steps:
                return
        self.pending.discard(queue)

    def open(self, found: Opening) -> None:
        before = {card: self.held(card) for card in CARDS}
        if found.gang is not None:
            name = found.gang.key.partition("/")[2]
            decisions, key = self.ledger.decisions, found.gang.key
            charge = decisions.reserve if found.pods else decisions.enqueue
            reserved = charge(key, found.queue, "t", found.asked)
            known = self.world["group", name]
            amounts = dict(reserved.amounts)
            written = known.reserving if found.pods else known.enqueued
            self.put("group", name, written(found.queue, amounts, "t"))
        for record, cards in found.pods:
            pod = self.pod(record.facts.name).ungated().stamped(found.queue, dict(cards))
            self.put("pod", record.facts.name, pod)
        for card in CARDS:
            if self.held(card).get(found.queue, 0) > before[card].get(found.queue, 0):
                self.is_right(found.queue, card)

    def all_is_looked_at(self) -> None:
        for _ in range(1_000):
            self.pending |= self.ledger.dirty.pending.take()
            if not self.pending:
                break
            self.a_pass_is_left(min(self.pending), 1_000)
        else:
            raise AssertionError("it never comes to an end")
        assert drift(self.ledger) == {}
        fresh = a_ledger(*self.world.values(), lends_what_is_there=self.everywhere)
        for queue in QUEUES:
            account = fresh.account(queue)
            found = [step for step in release_cycle(fresh, account) if step] if account else []
            assert [[record.facts.name for record, _ in one.pods] for one in found] == []
        self.nobody_waits_who_may_go()

    # --- counted again ------------------------------------------------------------------------

    def held(self, card: str) -> dict[str, int]:
        """By queue, or name: without reservations that stand over what is elastic."""
        accounts = list(self.ledger.accounts())
        return {one.name: n for one in accounts if (n := one.row(card).overcharged)}

    def deserved(self, card: str) -> dict[str, int]:
        sharers, owed = {}, {}
        for name, (quota, weight, says, _) in self.rows.items():
            if card in quota:
                owed[name] = min(quota[card], says.get(card, quota[card]))
                sharers[name] = PlainSharer(weight, owed[name], owed[name] if card in says else 0)
        total = self.totals[card]
        if sum(quota.get(card, 0) for quota, *_ in self.rows.values()) <= total:
            return owed
        return whole(rounds(total, sharers), total)

    def limits(self, card: str) -> dict[str, int] | None:
        """What is kept for each; None: it is not lent."""
        deserved, total = self.deserved(card), self.totals[card]
        kept = {
            name: deserved[name] - lends[card]
            for name, (_, _, _, lends) in self.rows.items()
            if card in lends and deserved.get(name, 0) > lends[card]
        }
        quotas = sum(quota.get(card, 0) for quota, *_ in self.rows.values())
        return kept if kept or (self.everywhere and quotas > total > 0) else None

    def taken(self, held: dict[str, int], kept: dict[str, int]) -> int:
        return sum(max(held.get(name, 0), kept.get(name, 0)) for name in held.keys() | kept.keys())

    def is_right(self, queue: str, card: str) -> None:
        """What a queue holds of a card, just after it got some."""
        held, kept = self.held(card), self.limits(card)
        quota = self.rows[queue][0][card]
        assert held[queue] <= quota
        if kept is None or held[queue] <= self.deserved(card)[queue]:
            return
        assert self.taken(held, kept) <= self.totals[card]

    def nobody_waits_who_may_go(self) -> None:
        """Of pods without a group and with one card, which wait for nobody else."""
        for name in self.pods():
            facts = self.pod(name).facts()
            queue, card, asked = facts.own_queue, facts.card_text or "", dict(facts.devices)
            if facts.state is not State.GATED or facts.group or "|" in card:
                continue
            if queue not in self.rows or card not in self.rows[queue][0]:
                continue
            account = self.ledger.account(queue)
            assert account is not None
            held, kept = self.held(card), self.limits(card)
            row = account.row(card)
            if row.charged != row.overcharged:
                continue  # a reservation stands over what is elastic: that goes first
            more = held | {queue: held.get(queue, 0) + sum(asked.values())}
            owed = more[queue] <= self.deserved(card).get(queue, 0)
            there = kept is None or self.taken(more, kept) <= self.totals[card]
            assert more[queue] > self.rows[queue][0][card] or not (owed or there)


GOING = (State.OPEN, State.BOUND)


@pytest.mark.slow
@given(seed=st.integers(0, 2**32))
@settings(max_examples=60)
def test_l2_nobody_has_what_is_not_there_and_nobody_waits_for_what_is_his(seed: int) -> None:
    history = LendingHistory(seed)
    for _ in range(EVENTS):
        history.go_on()
    history.all_is_looked_at()

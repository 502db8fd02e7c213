"""E7: the members of one task get one card, where one has room for all of them."""

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import pytest

from builders import H200, H800, R4090, Body, a_group, a_ledger, a_node, a_pod, a_queue
from builders.node import NodeBody
from builders.pod import PodBody
from cardquota.quota import GANG_KINDS
from cardquota.quota.decisions.groups import judge_gang
from cardquota.quota.ledger import Ledger

EITHER = f"{H200}|{H800}"
QUOTA = {H200: 4, H800: 4}


def member(name: str, names: str = EITHER, task: str | None = None, amount: int = 1) -> PodBody:
    pod = a_pod(name).in_queue("red").naming(names).asking_for(amount).gated()
    return pod.in_group("gang").of_task(task)


def nodes(**free: int) -> list[NodeBody]:
    """One of each card, with so many of it."""
    cards = {"h200": H200, "h800": H800, "r4090": R4090}
    return [a_node(name).with_cards(cards[name], n) for name, n in free.items()]


def start(quota: dict[str, int], *things: Body) -> list[str]:
    """The card of each member, in order; empty where they do not fit."""
    members = sum(isinstance(thing, PodBody) for thing in things)
    queue = a_queue("red").with_quota(quota)
    ledger = a_ledger(queue, a_group().in_queue("red").of(members), *things)
    return cards_of(ledger)


def cards_of(ledger: Ledger) -> list[str]:
    records = sorted(ledger.pods.values(), key=lambda record: record.sort_key)
    _, chosen = judge_gang(ledger, records)
    return [card for cards in chosen for card, _ in cards]


def test_all_get_the_first_that_has_room_for_all() -> None:
    pods = [member(name) for name in "abc"]
    assert start(QUOTA, *nodes(h200=8, h800=8), *pods) == [H200] * 3
    assert start(QUOTA | {H200: 2}, *nodes(h200=8, h800=8), *pods) == [H800] * 3


def test_of_which_nodes_have_enough_free_for_all_at_once() -> None:
    pods = [member(name) for name in "abc"]
    assert start(QUOTA, *nodes(h200=2, h800=8), *pods) == [H800] * 3


def test_several_cards_that_start_at_once_go_before_one_that_does_not() -> None:
    """A gang of which some wait for nodes holds its quota, and does nothing."""
    pods = [member(name) for name in "abc"]
    assert start(QUOTA, *nodes(h200=2, h800=1), *pods) == [H200, H200, H800]


def test_what_one_task_takes_of_the_nodes_another_one_does_not_find() -> None:
    """Both ask alike, and one is left free: enough for a pod, and not for all of the task."""
    pods = [member(f"{task}{n}", EITHER, task) for task in ("a", "b") for n in range(2)]
    assert start(QUOTA, *nodes(h200=3, h800=3), *pods) == [H200] * 2 + [H800] * 2


def test_t4_who_has_no_choice_is_told_of_what_is_being_deleted_whatever_his_tasks() -> None:
    members = [member(f"m{n}", H200, f"t{n // 2}") for n in range(4)]
    held = a_pod("held").in_queue("red").stamped("red", {H200: 4}).on_node("h200").terminating()
    ledger = a_ledger(
        a_queue("red").with_quota({H200: 4}),
        a_group().in_queue("red").of(4),
        held,
        *members,
        *nodes(h200=8),
    )
    pods = [record for record in ledger.pods.values() if record.facts.group]
    assert "being deleted" in judge_gang(ledger, pods)[0].text


def test_where_no_nodes_have_enough_it_is_the_first_with_quota_for_all() -> None:
    """An autoscaler sees the pods. What nodes have free for one of them is the better card."""
    pods = [member(name) for name in "abc"]
    assert start(QUOTA | {H200: 2}, *pods) == [H800] * 3
    assert start(QUOTA, *nodes(h800=1), *pods) == [H800] * 3


def test_only_where_none_has_room_for_all_they_get_several() -> None:
    pods = [member(name) for name in "abcdef"]
    assert start(QUOTA, *nodes(h200=8, h800=8), *pods) == [H200] * 4 + [H800] * 2


def test_each_task_has_its_own() -> None:
    """Equal claims of two tasks: one for all of the one, and the other for all of the other."""
    pods = [member(f"{task}{n}", EITHER, task) for task in ("a", "b") for n in range(3)]
    assert start(QUOTA, *nodes(h200=8, h800=8), *pods) == [H200] * 3 + [H800] * 3


def test_a_task_leaves_the_card_that_another_one_needs() -> None:
    pods = [member(f"a{n}", EITHER, "a") for n in range(3)]
    must = [member(f"b{n}", H200, "b") for n in range(2)]
    assert start(QUOTA, *nodes(h200=8, h800=8), *pods, *must) == [H800] * 3 + [H200] * 2


def test_a_small_task_leaves_the_card_that_a_larger_one_needs_for_all_of_its_pods() -> None:
    """Both may use either. Beside Volcano it would wait for ever, in a queue that nobody uses."""
    small = [member("a0", EITHER, "a")]
    large = [member(f"b{n}", f"{H800}|{H200}", "b") for n in range(3)]
    quota = {H200: 3, H800: 2}
    assert start(quota, *nodes(h200=8, h800=8), *small, *large) == [H800] + [H200] * 3
    larger = [member(f"b{n}", EITHER, "b", amount=2) for n in range(2)]
    several = [member(f"a{n}", EITHER, "a") for n in range(3)]
    quota = {H200: 5, H800: 3}
    assert start(quota, *nodes(h200=8, h800=8), *several, *larger) == [H800] * 3 + [H200] * 2
    plain = a_pod("c0").in_queue("red").gated().in_group("gang").of_task("c")
    must = member("d0", H800, "d")
    found = start({H200: 3, H800: 3}, *nodes(h200=8, h800=8), *small, *large, plain, must)
    assert found == [H800] + [H200] * 3 + [H800]


def test_where_another_task_goes_first_one_pod_still_gets_the_card_that_nodes_have() -> None:
    pod = [member("a0", f"{H800}|{H200}|{R4090}", "a")]
    large = [member(f"b{n}", f"{R4090}|{H800}|{H200}", "b") for n in range(3)]
    must = [member("c0", H200, "c")]
    quota = {H200: 4, H800: 1, R4090: 4}
    found = start(quota, *nodes(h200=4, r4090=1), *pod, *large, *must)
    assert found == [R4090, *[H200] * 4]


def test_where_not_all_can_have_one_each_they_get_what_comes_first() -> None:
    small = [member(f"a{n}", EITHER, "a") for n in range(2)]
    large = [member(f"b{n}", EITHER, "b") for n in range(3)]
    quota = {H200: 4, H800: 1}
    found = start(quota, *nodes(h200=8, h800=8), *small, *large)
    assert found == [H200] * 4 + [H800]


def test_and_waits_for_no_node_where_several_cards_start_at_once() -> None:
    """Also where all must be assigned together."""
    pods = [member(f"a{n}", EITHER, "a") for n in range(3)]
    must = [member(f"b{n}", H200, "b") for n in range(3)]
    quota = {H200: 4, H800: 3}
    found = start(quota, *nodes(h200=8, h800=2), *pods, *must)
    assert found == [H200, H800, H800, *[H200] * 3]
    found = start(quota, *nodes(h200=8, h800=1), *pods, *must)
    assert found == [H800] * 3 + [H200] * 3


def test_who_picks_nodes_gets_a_card_that_they_have() -> None:
    """One card for all is no good if it is on no node that they may use."""
    pool = [a_node("p").with_cards(H800, 1).labelled("pool", "x")]
    pods = [member(name).on_nodes_labelled({"pool": "x"}) for name in "abc"]
    there = [*nodes(h200=8), *pool]
    assert start({H200: 9, H800: 9}, *there, *pods) == [H800] * 3


def test_of_more_tasks_than_may_be_judged_apart_those_who_ask_for_the_same_are_one() -> None:
    number = GANG_KINDS.most + 1
    pods = [member(f"m{n:03}", EITHER, f"t{n}") for n in range(number)]
    assert start({H200: 10, H800: 99}, *nodes(h200=99, h800=99), *pods) == [H800] * number
    alike = [member(f"m{n:03}", H200, f"t{n}") for n in range(number)]
    assert start({H200: 99}, *nodes(h200=99), *alike) == [H200] * number


# --- against the rule told plainly ---------------------------------------------------------------


Task = tuple[str, tuple[str, ...]]
"""Its name, and the cards that its pods may use."""


@dataclass
class Plain:
    """The rule by trying everything: few pods, all of one amount, on nodes that all may use."""

    amount: int
    quota: dict[str, int]
    free: dict[str, int]
    """By card: for how many pods nodes have enough."""
    given: list[str] = field(default_factory=list)

    def serves(self, pods: Sequence[Sequence[str]]) -> bool:
        """Whether there is a card for each, whichever."""
        if not pods:
            return True
        for card in pods[0]:
            if self.quota[card] >= self.amount:
                self._take(card, 1)
                found = self.serves(pods[1:])
                self._take(card, -1)
                if found:
                    return True
        return False

    def _take(self, card: str, number: int) -> None:
        self.quota[card] -= number * self.amount
        self.free[card] -= number

    def all_on(self, cards: Sequence[str], number: int, rest: Sequence[Sequence[str]]) -> str:
        """The first of these cards that all of a task can have, the rest served; else empty."""
        for card in cards:
            self._take(card, number)
            fits = self.quota[card] >= 0 and self.serves(rest)
            self._take(card, -number)
            if fits:
                return card
        return ""

    def one_card(self, cards: Sequence[str], number: int, rest: Sequence[Sequence[str]]) -> str:
        """One for all of a task that goes before several; else empty."""
        enough = [card for card in cards if self.free[card] >= number]
        one = self.all_on(enough, number, rest)
        if one or number > 1:
            return one
        return self.all_on(sorted(cards, key=lambda card: self.free[card] <= 0), number, rest)

    def largest_first(self, tasks: Mapping[Task, int]) -> dict[Task, list[str]]:
        """One card for each, where those that ask for most go first; empty if some get none."""
        found: dict[Task, list[str]] = {}
        taken: list[tuple[str, int]] = []
        for key in sorted(tasks, key=lambda key: (len(key[1]) > 1, -tasks[key])):
            card = self.one_card(key[1], tasks[key], [])
            if not card:
                found.clear()
                break
            self._take(card, tasks[key])
            taken.append((card, tasks[key]))
            found[key] = [card] * tasks[key]
        for card, number in taken:
            self._take(card, -number)
        return found

    def one_by_one(
        self, cards: Sequence[str], number: int, rest: Sequence[Sequence[str]]
    ) -> tuple[list[str], bool]:
        """The best card for each in turn, and whether all have a node at once."""
        found, at_once = list[str](), True
        for left in range(number - 1, -1, -1):
            best = sorted(cards, key=lambda card: self.free[card] <= 0)
            card = self.all_on(best, 1, [*[cards] * left, *rest])
            at_once = at_once and self.free[card] > 0
            self._take(card, 1)
            found.append(card)
        for card in found:
            self._take(card, -1)
        return found, at_once

    def task(self, cards: Sequence[str], number: int, rest: Sequence[Sequence[str]]) -> list[str]:
        one = self.one_card(cards, number, rest)
        found = [one] * number
        if not one:
            found, at_once = self.one_by_one(cards, number, rest)
            best = sorted(cards, key=lambda card: self.free[card] <= 0)
            if not at_once and (one := self.all_on(best, number, rest)):
                found = [one] * number
        for card in found:
            self._take(card, 1)
        return found


@dataclass
class GangStory:
    """Some tasks on some nodes."""

    amount: int
    quota: dict[str, int]
    free: dict[str, int]
    nodes: list[NodeBody]
    pods: list[PodBody]


def a_story(seed: int, *, shared_tasks: bool = False) -> GangStory:
    """`shared_tasks`: pods of one task may name different cards."""
    dice = random.Random(seed)
    cards, amount = (H200, H800, R4090), dice.choice((1, 1, 2))
    quota = {card: dice.randint(0, 5) for card in cards}
    there = [
        a_node(f"n{n}").with_cards(dice.choice(cards), dice.randint(1, 5))
        for n in range(dice.randint(0, 5))
    ]
    free = {
        card: sum(
            int(amounts) // amount
            for node in there
            if node.body["metadata"]["labels"]["nvidia.com/gpu.product"] == card
            for amounts in [node.body["status"]["allocatable"]["nvidia.com/gpu"]]
        )
        for card in cards
    }
    pods = []
    for place in range(dice.randint(1, 3)):
        names = tuple(dice.sample(cards, dice.randint(1, 3)))
        task, number = dice.choice(("", f"t{place}")), dice.randint(1, 3)
        cpu = dice.choice(("1", "2")) if shared_tasks else "1"
        pods += [
            member(f"m{place}-{n}", "|".join(names), task or None, amount).with_cpu(cpu)
            for n in range(number)
        ]
    return GangStory(amount, quota, free, there, pods)


def names_of(pod: PodBody) -> tuple[str, ...]:
    return tuple((pod.facts().card_text or "").split("|"))


@pytest.mark.parametrize("seed", range(300))
def test_as_the_rule_told_plainly(seed: int) -> None:
    story = a_story(seed)
    tasks: dict[Task, int] = {}
    for pod in story.pods:
        names = names_of(pod)
        key = (pod.facts().task if len(names) > 1 else "", names)
        tasks[key] = tasks.get(key, 0) + 1
    given = start(story.quota, *story.nodes, *story.pods)
    plain = Plain(story.amount, dict(story.quota), dict(story.free))
    everybody = [names for (_, names), number in tasks.items() for _ in range(number)]
    if not plain.serves(everybody):
        assert given == []
        return
    expected: dict[Task, list[str]] = {}
    largest_first = plain.largest_first(tasks)
    done = 0
    for key, number in tasks.items():
        done += number
        expected[key] = plain.task(key[1], number, everybody[done:])
    if any(len(set(cards)) > 1 for cards in expected.values()):
        expected = largest_first or expected
    found: dict[Task, list[str]] = {key: [] for key in tasks}
    for pod, card in zip(story.pods, given, strict=True):
        names = names_of(pod)
        found[pod.facts().task if len(names) > 1 else "", names].append(card)
    assert found == expected

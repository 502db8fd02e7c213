"""E7: the members of one task get one card, where one has room for all of them."""

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import pytest

from builders import H200, H800, R4090, Body, a_group, a_ledger, a_node, a_pod, a_queue
from builders.node import NodeBody
from builders.pod import PodBody
from cardquota.quota.decisions.groups.gang_judgement import judge_gang
from cardquota.quota.decisions.groups.gang_trial import MOST_TRIED, GangTrial
from cardquota.quota.decisions.groups.mixture import mixture_in
from cardquota.quota.ledger.ledger import Ledger
from cardquota.quota.limits import GANG_KINDS

EITHER = f"{H200}|{H800}"
QUOTA = {H200: 4, H800: 4}


def member(name: str, names: str = EITHER, task: str | None = None, amount: int = 1) -> PodBody:
    pod = a_pod(name).in_queue("red").naming(names).asking_for(amount).gated()
    return pod.in_group("gang").of_task(task)


def nodes(**free: int) -> list[NodeBody]:
    """One of each card, with so many of it."""
    cards = {"h200": H200, "h800": H800, "r4090": R4090}
    return [a_node(name).with_cards(cards[name], n) for name, n in free.items()]


def start(quota: dict[str, int], *things: Body, mixtures: bool = True) -> list[str]:
    """The card of each member, in order; empty where they do not fit."""
    members = sum(isinstance(thing, PodBody) for thing in things)
    queue = a_queue("red").with_quota(quota)
    ledger = a_ledger(queue, a_group().in_queue("red").of(members), *things)
    return cards_of(ledger, mixtures=mixtures)


def cards_of(ledger: Ledger, *, mixtures: bool = True) -> list[str]:
    records = sorted(ledger.pods.values(), key=lambda record: record.sort_key)
    _, chosen = judge_gang(ledger, records, mixtures=mixtures)
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


def test_v7_where_mixtures_are_not_bound_one_card_without_nodes_goes_first() -> None:
    """An autoscaler sees the pods; at their gates nobody does."""
    pods = [member(name) for name in "abc"]
    there = nodes(h200=2, h800=1)
    assert start(QUOTA, *there, *pods, mixtures=False) == [H200] * 3
    assert start(QUOTA | {H200: 2}, *there, *pods, mixtures=False) == [H800] * 3
    assert start(QUOTA, *nodes(h200=2, h800=8), *pods, mixtures=False) == [H800] * 3
    several = start({H200: 2, H800: 2}, *there, *pods, mixtures=False)
    assert several == [H200, H200, H800]


def test_v7_also_where_one_task_came_first() -> None:
    """What the small one would take, the large one needs; of neither card are there enough."""
    small = [member("a0", EITHER, "a")]
    large = [member(f"b{n}", EITHER, "b") for n in range(3)]
    there = [*small, *large, *nodes(h200=2, h800=2)]
    found = start({H200: 3, H800: 1}, *there, mixtures=False)
    assert found == [H800] + [H200] * 3


def test_v7_pods_of_one_task_that_differ_otherwise_get_one_card_too() -> None:
    """A master and its workers, of which nobody says that they are tasks. Each alone would get the
    first that nodes have free for it.
    """
    master = member("a").with_cpu("4")
    workers = [member(name).with_cpu("1") for name in "bcd"]
    there = nodes(h200=1, h800=8)
    quota = {H200: 1, H800: 8}
    assert start(quota, *there, master, *workers, mixtures=False) == [H800] * 4
    assert start(quota, *there, master, *workers) == [H200] + [H800] * 3
    fixed = [member(name, H800).with_cpu("1") for name in "bcd"]
    assert start(quota, *there, master, *fixed, mixtures=False) == [H800] * 4
    more = [member(name, amount=2).with_cpu("1") for name in "bcd"]
    assert start(quota, *there, master, *more, mixtures=False) == [H800] * 4
    none = start({H200: 1, H800: 3}, *there, master, *workers, mixtures=False)
    assert none == [H200] + [H800] * 3
    driver = a_pod("e").in_queue("red").gated().in_group("gang").with_cpu("1")
    assert start(quota, *there, master, *workers, driver, mixtures=False) == [H800] * 4
    first = [member("a", f"{H200}|{H800}", "x").with_cpu("4"), member("b", EITHER, "x")]
    second = [member(name, EITHER, "y").with_cpu("2") for name in "cd"]
    found = start({H200: 2, H800: 2}, *there, *first, *second, mixtures=False)
    assert sorted([set(found[:2]), set(found[2:])], key=str) == [{H200}, {H800}]


def test_v7_of_many_tasks_those_without_a_choice_are_one() -> None:
    number = GANG_KINDS.most
    pods = [member(f"m{n:03}", H200, f"t{n}") for n in range(number + 1)]
    assert start({H200: 99}, *nodes(h200=99), *pods, mixtures=False) == [H200] * (number + 1)


def test_v7_to_look_for_one_card_beside_others_that_may_move_has_a_bound(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    tried = list[int]()
    judge_alike = GangTrial.judge_alike

    def counting(self: GangTrial, record: Any, number: int, *, only: Any = None) -> Any:
        verdict = judge_alike(self, record, number, only=only)
        if not verdict.fits:
            tried.append(number)
        return verdict

    monkeypatch.setattr(GangTrial, "judge_alike", counting)
    cards = [f"NVIDIA-X{n:02}" for n in range(60)]
    names = "|".join(cards)
    # Enough of each by the sum; but another pod may have any, so nobody knows without a search.
    past = a_pod("past").in_queue("red").naming(names).asking_for(1)
    members = [member(f"m{n:02}", names, f"t{n // 2}").with_cpu("1") for n in range(80)]
    there = [a_node(card).with_cards(card, 1) for card in cards]
    group = a_group().in_queue("red").of(80)
    queue = a_queue("red").limited_to("79")
    ledger = a_ledger(queue.with_quota(dict.fromkeys(cards, 2)), group, past, *members, *there)
    pods = [record for record in ledger.pods.values() if record.facts.group]
    judge_gang(ledger, pods, mixtures=False)
    assert len(tried) <= 2 * MOST_TRIED
    tried.clear()
    short = a_ledger(queue.with_quota(dict.fromkeys(cards, 1)), group, past, *members, *there)
    pods = [record for record in short.pods.values() if record.facts.group]
    judge_gang(short, pods, mixtures=False)
    assert len(tried) <= 1, "a sum says that no card has room"


def test_v7_a_task_of_many_kinds_is_not_tried_on_every_card(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Each card lacks one for all of them."""
    judged = list[str]()
    judge_alike = GangTrial.judge_alike

    def counting(self: GangTrial, record: Any, number: int, *, only: Any = None) -> Any:
        judged.append(str(only))
        return judge_alike(self, record, number, only=only)

    monkeypatch.setattr(GangTrial, "judge_alike", counting)
    cards, kinds = [f"NVIDIA-X{n:02}" for n in range(16)], 16
    members = [member(f"m{n:02}", "|".join(cards)).with_cpu(f"{n + 1}m") for n in range(kinds)]
    there = [a_node(card).with_cards(card, kinds - 1) for card in cards]
    queue = a_queue("red").with_quota(dict.fromkeys(cards, kinds))
    ledger = a_ledger(queue, a_group().in_queue("red").of(kinds), *members, *there)
    verdict, _ = judge_gang(ledger, list(ledger.pods.values()), mixtures=False)
    assert verdict.fits
    assert len(judged) <= MOST_TRIED + 2 * kinds


def test_v7_of_many_tasks_each_gets_one_card_beside_pods_that_may_still_get_any() -> None:
    number = 16
    past = a_pod("past").in_queue("red").naming(EITHER).asking_for(1)
    members = [member(f"m{n:03}", EITHER, f"t{n // 2}") for n in range(2 * number)]
    queue = a_queue("red").with_quota({H200: 2 * number - 1, H800: 2 * number})
    there = [a_group().in_queue("red").of(2 * number), past, *nodes(h200=400, h800=400)]
    ledger = a_ledger(queue, *there, *members)
    pods = [record for record in ledger.pods.values() if record.facts.group]
    verdict, chosen = judge_gang(ledger, pods, mixtures=False)
    assert verdict.fits
    assert mixture_in(zip(pods, chosen, strict=True)) is None


def test_v7_no_pod_of_a_task_gets_a_card_that_the_nodes_which_it_picks_do_not_have() -> None:
    """It could never run; so the task waits as a mixture, or gets the other card."""
    pool = a_node("q").with_cards(H800, 1).labelled("pool", "x")
    free = member("a").with_cpu("4")
    picking = [member(name).with_cpu("1").on_nodes_labelled({"pool": "x"}) for name in "bc"]
    quota = {H200: 9, H800: 9}
    for first in ([free, *picking], [*picking, free]):
        assert start(quota, *nodes(h200=8), pool, *first, mixtures=False) == [H800] * 3
        short = start({H200: 9, H800: 2}, *nodes(h200=8), pool, *first, mixtures=False)
        assert short == [H200, H800, H800], "by name, whoever was written first"


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
    texts = {judge_gang(ledger, pods, mixtures=mixtures)[0].text for mixtures in (True, False)}
    (text,) = texts
    assert "being deleted" in text


def test_v7_also_beside_pods_that_may_still_get_any_card() -> None:
    """Where mixtures are bound, to search each card would cost too much."""
    past = a_pod("past").in_queue("red").naming(EITHER).asking_for(1)
    members = [member(name) for name in "abcd"]
    there = [a_group().in_queue("red").of(4), past, *members, *nodes(h200=8, h800=8)]

    def given(quota: dict[str, int], *, mixtures: bool) -> list[str]:
        ledger = a_ledger(a_queue("red").with_quota(quota), *there)
        pods = [record for record in ledger.pods.values() if record.facts.group]
        _, chosen = judge_gang(ledger, pods, mixtures=mixtures)
        return [card for cards in chosen for card, _ in cards]

    assert given({H200: 2, H800: 8}, mixtures=False) == [H800] * 4
    assert given({H200: 2, H800: 8}, mixtures=True) == [H200, H200, H800, H800]
    assert given({H200: 4, H800: 1}, mixtures=False) == [H200] * 4  # the other one takes the rest
    assert given({H200: 4, H800: 0}, mixtures=False) == []


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


def one_card_each(story: GangStory, tasks: Mapping[str, Sequence[PodBody]]) -> bool:
    """Whether every task can have one card that all its pods may use: by trying everything."""
    if not tasks:
        return True
    (_, pods), *rest = tasks.items()
    for card in set(names_of(pods[0])).intersection(*map(names_of, pods)):
        asked = len(pods) * story.amount
        if story.quota[card] >= asked:
            story.quota[card] -= asked
            found = one_card_each(story, dict(rest))
            story.quota[card] += asked
            if found:
                return True
    return False


@pytest.mark.parametrize("seed", range(300))
def test_v7_where_mixtures_are_not_bound_each_task_gets_one_card_where_there_is_one(
    seed: int,
) -> None:
    story = a_story(seed, shared_tasks=True)
    tasks: dict[str, list[PodBody]] = {}
    for pod in story.pods:
        tasks.setdefault(pod.facts().task, []).append(pod)
    given = start(story.quota, *story.nodes, *story.pods, mixtures=False)
    plain = Plain(story.amount, dict(story.quota), dict(story.free))
    assert bool(given) == plain.serves([names_of(pod) for pod in story.pods])
    if not given:
        return
    by_task: dict[str, set[str]] = {}
    for pod, card in zip(story.pods, given, strict=True):
        assert card in names_of(pod)
        by_task.setdefault(pod.facts().task, set()).add(card)
    assert all(given.count(card) * story.amount <= n for card, n in story.quota.items())
    if any(len(cards) > 1 for cards in by_task.values()) and len(tasks) == 1:
        assert not one_card_each(story, tasks)

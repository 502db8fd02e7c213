"""E7: the members of one task get one card, where one has room for all of them."""

import random
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

import pytest

from builders import H200, H800, R4090, Body, a_group, a_ledger, a_node, a_pod, a_queue
from builders.node import NodeBody
from builders.pod import PodBody
from cardquota.quota import GANG_KINDS
from cardquota.quota.decisions import judge_gang

from ..brute_force import can_be_served

EITHER = f"{H200}|{H800}"


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
    records = sorted(ledger.pods.values(), key=lambda record: record.sort_key)
    _, chosen = judge_gang(ledger, records)
    return [card for cards in chosen for card, _ in cards]


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


def one_card_each(
    amount: int, quota: dict[str, int], free: dict[str, int], tasks: Mapping[Task, int]
) -> dict[Task, str] | None:
    """The rule told plainly: tasks with the fewest cards first, of these the largest. `free`: by
    card, for how many pods nodes have enough. None: some task has no card for all of its pods.
    """
    quota, free, found = dict(quota), dict(free), dict[Task, str]()
    for key in sorted(tasks, key=lambda key: (len(key[1]), -tasks[key])):
        able = [card for card in key[1] if quota[card] >= amount * tasks[key]]
        card = next((card for card in able if free[card] >= tasks[key]), able[0] if able else "")
        if not card:
            return None
        quota[card] -= amount * tasks[key]
        free[card] -= tasks[key]
        found[key] = card
    return found


@dataclass
class GangStory:
    """Some tasks on some nodes."""

    amount: int
    quota: dict[str, int]
    free: dict[str, int]
    nodes: list[NodeBody]
    pods: list[PodBody]


def a_story(seed: int) -> GangStory:
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
        kind = "|".join(names), task or None, amount
        pods += [member(f"m{place}-{n}", *kind) for n in range(number)]
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
    wants = [(names_of(pod), story.amount) for pod in story.pods]
    assert bool(given) == can_be_served(story.quota, wants)
    expected = one_card_each(story.amount, story.quota, story.free, tasks)
    left = Counter(story.quota)
    for pod, card in zip(story.pods, given, strict=False):
        names = names_of(pod)
        left[card] -= story.amount
        assert card in names
        if expected is not None:
            assert card == expected[pod.facts().task if len(names) > 1 else "", names]
    assert not given or min(left[card] for card in given) >= 0

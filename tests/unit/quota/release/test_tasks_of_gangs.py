"""E2: a gang with `minTaskMember` starts with its minimum of each task, and `minMember` in all."""

import random
from collections import Counter

import pytest

from builders import CARDS, H200, Body, a_ledger, see
from builders.group import GroupBody
from builders.pod import PodBody
from cardquota.quota import Outcome, Reason
from cardquota.quota.ledger import Ledger
from cardquota.quota.pods import PodFacts
from cardquota.quota.release import judge_member

from ..releasing import FIVE, GANG, QUEUE, a_cluster, member, release

TASKS = GANG.of(3).of_tasks({"head": 1, "worker": 2})


def of(task: str, name: str, cards: int = 1, card: str = H200) -> PodBody:
    return member(name, cards, card).of_task(task)


def going(pod: PodBody, cards: int = 1) -> PodBody:
    """Its gate is open, and it is bound."""
    return pod.stamped("red", {H200: cards}).on_node("h200-a")


def told(ledger: Ledger) -> list[tuple[Reason | None, str]]:
    opened, refusals = release(ledger)
    assert opened == []
    return [(refusal.verdict.reason, refusal.verdict.text) for refusal in refusals]


def test_i4_a_task_of_which_some_are_on_their_way_out_is_named() -> None:
    ledger = a_cluster(TASKS, of("head", "h").terminating(), of("worker", "a"), of("worker", "b"))
    see(ledger, of("worker", "c"))
    reason, text = told(ledger)[0]
    assert reason is Reason.GANG_INCOMPLETE
    assert "in queue <red>: <0> of <1> of task <head>; " in text
    assert judge_member(ledger, ledger.pods["uid-a"]).text == text


def test_a_task_waits_without_a_word_for_a_member_whose_gate_did_not_open_just_now() -> None:
    ledger = a_cluster(TASKS, of("head", "h"), *(of("worker", name) for name in "abc"))
    ledger.decisions.back_off("uid-h")
    assert release(ledger) == ([], [])
    ledger.decisions.put_back("uid-h")
    assert release(ledger)[0] == [["a", "b", "h"]]


def test_a_lost_head_is_waited_for_though_as_many_as_must_start_run() -> None:
    """Others of the group do not stand for it; it goes as soon as it is there."""
    workers = [going(of("worker", name)) for name in "abc"]
    ledger = a_cluster(FIVE, TASKS, *workers, of("worker", "d"))
    assert "<0> of <1> of task <head>" in told(ledger)[0][1]
    see(ledger, of("head", "z"))
    assert release(ledger)[0] == [["z"], ["d"]]


def test_very_many_kinds_of_another_task_do_not_hide_the_lost_head() -> None:
    """Nor take the room that it needs."""
    group = GANG.of(3).of_tasks({"head": 1})
    kinds = [of("worker", f"w{n:02}").with_cpu(f"{n + 1}m") for n in range(70)]
    world = FIVE, group, going(of("worker", "a")), of("worker", "b-large", 5), *kinds
    assert release(a_cluster(*world, of("head", "z", 3)))[0] == [["w00", "z"]]
    assert release(a_cluster(*world, of("head", "z", 4)))[0] == []


def test_the_kinds_of_one_task_leave_tries_for_another() -> None:
    group = GANG.of(3).of_tasks({"head": 1, "worker": 1})
    kinds = [of("worker", f"w{n:02}", 6).with_cpu(f"{n + 1}m") for n in range(70)]
    heads = [of("head", f"h{n:02}", 2).with_cpu(f"{n + 1}m") for n in range(70)]
    ledger = a_cluster(FIVE, group, going(of("", "a")), *kinds, *heads, of("worker", "z", 2))
    assert release(ledger)[0] == [["h00", "z"]]


@pytest.mark.parametrize(
    "group",
    [
        TASKS.of_tasks({"head": 1, "worker": 3}),
        TASKS.of_tasks({"head": -1}),
        TASKS.of_tasks({f"t{n}": 0 for n in range(257)}),
        TASKS.of_tasks({"head": 0}),
        TASKS.of_tasks(None),
    ],
    ids=["too many together", "negative", "too many tasks", "none of it", "absent"],
)
def test_a_minimum_by_task_that_is_wrong_or_says_nothing_asks_for_nothing(group: GroupBody) -> None:
    """P8: nothing of it is read; the gang starts by its number."""
    assert group.facts().tasks == {}
    assert release(a_cluster(group, *(member(name) for name in "abc")))[0] == [["a", "b", "c"]]


def test_a_group_that_is_no_gang_waits_for_no_task() -> None:
    group = GANG.of(1).of_tasks({"head": 1})
    assert release(a_cluster(group, of("worker", "a")))[0] == [["a"]]


def a_history(dice: random.Random) -> list[Body]:
    """Members of three tasks that wait or run, in a queue with room for all."""
    minimum = {task: dice.randint(0, 2) for task in ("x", "y")}
    least = max(2, sum(minimum.values()) + dice.randint(0, 2))
    things: list[Body] = [
        QUEUE.with_quota({H200: 99}),
        GANG.of(least).of_tasks({task: n for task, n in minimum.items() if n} or None),
    ]
    for number in range(dice.randint(1, 9)):
        pod = of(dice.choice(("x", "y", "")), f"m{dice.randint(0, 99):02}-{number}")
        things.append(going(pod) if dice.random() < 0.2 else pod)
    return things


@pytest.mark.parametrize("seed", range(200))
def test_who_starts_is_who_should(seed: int) -> None:
    """By the rule, told another way: of all sets of waiting members that complete the gang, the one
    that is first in order, looked for member by member from the last.
    """
    things = a_history(random.Random(seed))
    ledger = a_ledger(*CARDS, *things)
    group = ledger.groups["team/gang"]
    assert group.facts is not None
    least, tasks = group.facts.min_member, dict(group.facts.tasks)
    pods = [record.facts for record in ledger.pods.values()]
    gated = sorted((pod for pod in pods if not pod.node), key=lambda pod: pod.name)
    running = [pod for pod in pods if pod.node]

    def whole(some: list[PodFacts]) -> bool:
        found = Counter(pod.task for pod in (*running, *some))
        return found.total() >= least and all(found[task] >= n for task, n in tasks.items())

    expected = list(gated) if whole(gated) else []
    for pod in reversed(gated):
        if whole(without := [one for one in expected if one is not pod]):
            expected = without
    opened, refusals = release(ledger)
    if whole([]):
        assert sorted(name for some in opened for name in some) == [pod.name for pod in gated]
    elif expected:
        assert opened[0] == [pod.name for pod in expected]
    else:
        assert opened == []
        assert all(refusal.verdict.outcome is Outcome.UNSEEN for refusal in refusals)

"""E2: which waiting members start a gang."""

import random
from collections import Counter

import pytest

from builders import CARDS, H200, a_group, a_ledger, a_pod, a_queue
from builders.body import Body
from cardquota.quota.pending import PodClass, first_members
from unit.steps import steps_of


def classes_of(pods: int, requests: int, tasks: int, seed: int = 0) -> list[PodClass]:
    """The classes of a gang whose pods were created in any order."""
    order = random.Random(seed).sample(range(pods), pods)
    members: list[Body] = [
        a_pod(f"p{n}")
        .with_uid(f"p{n}")
        .in_group("gang")
        .of_task(f"t{n % tasks}")
        .naming(H200)
        .asking_for(1)
        .with_cpu(f"{n % requests + 1}m")
        .created(f"2026-01-01T{order[n] // 3600:02}:{order[n] // 60 % 60:02}:{order[n] % 60:02}Z")
        .gated()
        for n in range(pods)
    ]
    group = a_group("gang").in_queue("queue").of(pods).of_tasks({"t1": 12, "t3": 2})
    ledger = a_ledger(*CARDS, a_queue("queue").with_quota({H200: 1}), group, *members)
    account = ledger.account("queue")
    assert account is not None
    return list(account.pending.classes_of(ledger.groups["team/gang"]))


@pytest.mark.parametrize("requests", [3, 150])
@pytest.mark.parametrize("number", [0, 1, 50, 300, 400])
def test_the_first_in_the_order_of_release(requests: int, number: int) -> None:
    classes = classes_of(300, requests, 1)
    everybody = sorted(sort_key for one in classes for sort_key in one.sort_keys)
    assert first_members(classes, number, {}) == everybody[:number]


@pytest.mark.parametrize("requests", [3, 150])
@pytest.mark.parametrize("number", [20, 100])
def test_among_them_as_many_of_each_task_as_is_asked(requests: int, number: int) -> None:
    classes = classes_of(300, requests, 5)
    task_of = {sort_key: one.task for one in classes for sort_key in one.sort_keys}
    everybody, least = sorted(task_of), {"t1": 12, "t3": 2}
    found = first_members(classes, number, least)
    assert (len(found), found) == (number, sorted(found))
    assert Counter(task_of[one] for one in found) >= Counter(least)
    needed = {
        one for task, n in least.items() for one in [k for k in everybody if task_of[k] == task][:n]
    }
    rest = [one for one in everybody if one not in needed][: number - len(needed)]
    assert set(found) == needed | set(rest)


@pytest.mark.parametrize("by_task", [{}, {"t1": 1}])
def test_i5_thousands_of_different_members_cost_little(by_task: dict[str, int]) -> None:
    classes = classes_of(2_000, 2_000, 2_000)
    assert len(classes) == 2_000
    assert steps_of(lambda: first_members(classes, 2_000, by_task)) < 10_000

"""E2: which waiting members start a gang."""

import random

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


@pytest.mark.parametrize("by_task", [{}, {"t1": 1}])
def test_i5_thousands_of_different_members_cost_little(by_task: dict[str, int]) -> None:
    classes = classes_of(2_000, 2_000, 2_000)
    assert len(classes) == 2_000
    assert steps_of(lambda: first_members(classes, 2_000, by_task)) < 10_000

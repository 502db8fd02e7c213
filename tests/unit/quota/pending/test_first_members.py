"""E2: which waiting members start a gang."""

import pytest

from builders import CARDS, H200, a_group, a_ledger, a_pod, a_queue
from cardquota.quota.pending import first_members
from unit.steps import steps_of

MANY = 2_000


@pytest.mark.parametrize("by_task", [{}, {"t1": 1}])
def test_i5_thousands_of_different_members_cost_little(by_task: dict[str, int]) -> None:
    pods = [a_pod(f"p{n}").in_group("gang").naming(H200).asking_for(1) for n in range(MANY)]
    members = [pod.of_task(f"t{n}").with_cpu(f"{n + 1}m").gated() for n, pod in enumerate(pods)]
    group = a_group("gang").in_queue("queue").of(MANY).of_tasks({"t1": 1})
    ledger = a_ledger(*CARDS, a_queue("queue").with_quota({H200: 1}), group, *members)
    account = ledger.account("queue")
    assert account is not None
    classes = list(account.pending.classes_of(ledger.groups["team/gang"]))
    assert len(classes) == MANY
    assert steps_of(lambda: first_members(classes, MANY, by_task)) < 10_000

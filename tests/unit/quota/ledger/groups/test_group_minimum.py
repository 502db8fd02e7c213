"""What `minMember` and `minTaskMember` may be when they are written (P8)."""

from collections.abc import Mapping

import pytest

from cardquota.quota import MIN_MEMBER, TASKS
from cardquota.quota.ledger.groups import minimum_problem


@pytest.mark.parametrize(
    ("minimum", "by_task"),
    [
        (None, None),
        (1, {}),
        (MIN_MEMBER.most, None),
        (3, {"head": 1, "worker": 2}),
        (3, {"head": 0}),
        (None, {"worker": 2}),
        (TASKS.most, {f"t{n}": 1 for n in range(TASKS.most)}),
    ],
)
def test_a_minimum_that_means_something(
    minimum: int | None, by_task: Mapping[str, int] | None
) -> None:
    assert minimum_problem(minimum, by_task) == ""


@pytest.mark.parametrize(
    ("minimum", "by_task", "words"),
    [
        (0, None, "spec.minMember is <0>, at least <1> is needed; write how many"),
        (-3, None, "spec.minMember is <-3>"),
        (10_001, None, "the group has <10001> pods that start together (spec.minMember), at"),
        (3, {"head": 1, "worker": -1}, "spec.minTaskMember of task <worker> is <-1>"),
        (2, {"head": 1, "worker": 2}, "add up to <3>, more than spec.minMember <2>; raise"),
        (None, {"worker": -2}, "of task <worker> is <-2>"),
        (None, {f"t{n}": 1 for n in range(65)}, "the group has <65> tasks in spec.minTaskMember"),
    ],
)
def test_a_minimum_that_means_nothing(
    minimum: int | None, by_task: Mapping[str, int] | None, words: str
) -> None:
    assert words in minimum_problem(minimum, by_task)

"""What is read of a pod group: its minimum (P8), its name (V4, V5), members that failed."""

from collections.abc import Mapping

import pytest

from builders import CARDS, a_group, a_ledger, a_pod, a_queue, see
from cardquota.quota.ledger.groups import minimum_problem, queue_said


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


# --- Which group Volcano has made for a Job, by its name -----------------------------------------


FIRST, SECOND = ("0a1b2c3d-0000-4000-8000-00000000000" + end for end in "12")


def test_the_group_of_a_job_is_found_by_its_name() -> None:
    names = ("train", f"-{FIRST}", f"train-{'x' * 36}", f"train{FIRST}")
    ledger = a_ledger(*CARDS, a_queue(), *(a_group(name) for name in names))
    found = ledger.job_groups
    assert not found.of("team/train")
    for name in (f"train-{FIRST}", f"train-x-{FIRST}", f"train-{SECOND}"):
        ledger.group_seen(a_group(name).facts())
    assert list(found.of("team/train")) == [f"team/train-{FIRST}", f"team/train-{SECOND}"]
    assert list(found.of("team/train-x")) == [f"team/train-x-{FIRST}"]
    ledger.group_gone(f"team/train-{FIRST}")
    ledger.group_gone(f"team/train-{FIRST}")
    assert list(found.of("team/train")) == [f"team/train-{SECOND}"]


# --- Volcano makes a pod group for pods that have none: their queue is what it was be ------------


UID = "0d9c39a2-8a4b-4c39-9d0e-3f4d2f0e6a11"


@pytest.mark.parametrize("queue", ["default", "research"])
def test_v5_a_group_of_volcanos_making_says_no_queue(queue: str) -> None:
    assert queue_said(f"podgroup-{UID}", queue) == ""


@pytest.mark.parametrize(
    ("name", "queue"),
    [
        (f"train-{UID}", "default"),
        ("podgroup-mine", "default"),
        (f"podgroup-{UID}-x", "default"),
        (f"podgroup-{UID.upper()}", "default"),
        ("gang", "research"),
    ],
)
def test_v5_the_queue_of_any_other_group_counts(name: str, queue: str) -> None:
    assert queue_said(name, queue) == queue


@pytest.mark.parametrize("queue", [None, ""])
def test_a_group_without_a_queue_says_none(queue: str | None) -> None:
    assert queue_said(f"podgroup-{UID}", queue) == ""
    assert queue_said("gang", queue) == ""


# --- Members that failed are counted as long as they exist ---------------------------------------


FAILED = a_pod("p").in_group("gang").on_node("h200-1").in_phase("Failed")


def test_a_failed_member_is_counted_until_it_is_gone() -> None:
    ledger = a_ledger(*CARDS, a_group().of(2), FAILED)
    group = ledger.groups["team/gang"]
    ledger.dirty.groups.take()
    assert (group.failed, group.members, group.members_existing) == ({FAILED.uid}, {}, 0)
    see(ledger, FAILED.at_revision(2))
    assert ledger.dirty.groups.take() == set()
    ledger.pod_gone(FAILED.uid)
    assert not group.failed
    assert ledger.dirty.groups.take() == {"team/gang"}


def test_a_group_is_kept_for_its_failed_members_alone() -> None:
    ledger = a_ledger(*CARDS, FAILED)
    assert ledger.groups["team/gang"].failed
    see(ledger, FAILED.in_group("other").at_revision(2))
    assert ledger.groups.keys() == {"team/other"}
    ledger.pod_gone(FAILED.uid)
    assert not ledger.groups

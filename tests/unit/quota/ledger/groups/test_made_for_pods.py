"""Volcano makes a pod group for pods that have none: their queue is what it was before (V5)."""

import pytest

from cardquota.quota.ledger.groups import queue_said

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

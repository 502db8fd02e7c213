"""What is remembered of workloads: for a time, and of each queue so many."""

import pytest

from cardquota_webhooks.scaling import remembered
from cardquota_webhooks.scaling.remembered import Remembered


class Now:
    value = 0.0


def test_it_is_forgotten_after_its_time_and_the_newest_word_counts() -> None:
    found = Remembered[int](5.0, lambda: Now.value)
    found.put("red", "a", 1)
    Now.value += 3.0
    found.put("red", "b", 2)
    found.put("blue", "c", 3)
    assert dict(found.of_queue("red")) == {"a": 1, "b": 2}
    found.put("red", "a", 4)
    assert list(found.of_queue("red").items()) == [("b", 2), ("a", 4)]
    Now.value += 2.0
    assert dict(found.of_queue("red")) == {"b": 2, "a": 4}
    Now.value += 3.0
    assert not found.of_queue("red")
    assert len(found) == 0


def test_what_is_old_is_not_found_by_its_workload_either() -> None:
    """What was granted and never came would stand for what another replica grants an hour later."""
    now = [0.0]
    found = Remembered[int](5.0, lambda: now[0])
    found.put("red", "a", 1)
    found.put("red", "b", 1)
    now[0] = 5.0
    assert "a" not in found
    assert found.get("b") is None


def test_a_workload_is_in_one_queue() -> None:
    found = Remembered[int](5.0, lambda: 0.0)
    found.put("red", "a", 1)
    found.put("blue", "a", 2)
    assert not found.of_queue("red")
    assert (found.get("a"), "a" in found) == (2, True)
    found.drop("a")
    found.drop("a")
    assert (found.get("a"), "a" in found) == (None, False)
    assert not found.of_queue("blue")


def test_one_queue_crowds_out_no_other(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(remembered, "MOST_OF_QUEUE", 3)
    found = Remembered[int](5.0, lambda: 0.0)
    found.put("blue", "b", 0)
    for number in range(9):
        found.put("red", f"r{number}", number)
    assert dict(found.of_queue("red")) == {"r6": 6, "r7": 7, "r8": 8}
    assert dict(found.of_queue("blue")) == {"b": 0}

"""Pods that were let by a moment ago."""

from cardquota_webhooks.unseen import Unseen


def book(seen: set[str]) -> tuple[Unseen, list[float]]:
    now = [0.0]
    return Unseen(seen.__contains__, lifetime=0.5, clock=lambda: now[0]), now


def test_they_are_remembered_by_queue_until_they_are_seen() -> None:
    seen: set[str] = set()
    unseen, _ = book(seen)
    unseen.add("a", "red", (("card", 2), ("cpu", 100)))
    unseen.add("b", "red", (("card", 1),))
    unseen.add("c", "blue", (("card", 5),))
    assert unseen.of("red", but="b") == ["a"]
    assert unseen.amounts("red", unseen.of("red", but="")) == {"card": 3, "cpu": 100}
    seen.add("a")
    assert unseen.of("red", but="") == ["b"]


def test_they_are_forgotten_after_their_time() -> None:
    unseen, now = book(set())
    unseen.add("a", "red", (("card", 2),))
    now[0] = 0.49
    assert unseen.of("red", but="") == ["a"]
    now[0] = 0.5
    assert unseen.of("red", but="") == []
    assert not unseen._queues
    assert not unseen._ages


def test_what_has_been_seen_or_has_no_uid_is_never_remembered() -> None:
    unseen, _ = book({"a"})
    unseen.add("a", "red", (("card", 2),))
    unseen.add("", "red", (("card", 2),))
    assert unseen.of("red", but="") == []


def test_amounts_of_those_forgotten_meanwhile_are_nothing() -> None:
    unseen, _ = book(set())
    assert unseen.amounts("red", ["never-heard-of"]) == {}


def test_one_that_is_let_by_once_more_is_remembered_from_then_on() -> None:
    unseen, now = book(set())
    unseen.add("a", "red", (("card", 2),))
    now[0] = 0.4
    unseen.add("a", "red", (("card", 3),))
    now[0] = 0.6
    assert unseen.amounts("red", unseen.of("red", but="")) == {"card": 3}
    now[0] = 0.9
    assert unseen.of("red", but="") == []


def test_a_review_looks_at_its_own_queue_alone() -> None:
    """With a thousand creates a second the others are many."""
    asked: list[str] = []

    def seen(uid: str) -> bool:
        asked.append(uid)
        return False

    unseen = Unseen(seen, lifetime=0.5, clock=lambda: 0.0)
    for number in range(100):
        unseen.add(f"{number}", "blue", ())
    unseen.add("a", "red", (("card", 2),))
    asked.clear()
    assert unseen.of("red", but="") == ["a"]
    assert asked == ["a"]

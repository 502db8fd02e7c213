"""Who is written next, and who goes when too many wait."""

import random

import pytest

from cardquota.cluster.events import Event, EventQueue, ObjectReference

from ...containers import containers


def event(namespace: str, name: str, since: float = 0.0) -> Event:
    return Event(ObjectReference("Pod", "v1", namespace, name, name), "Normal", "R", "m", 0, since)


def a_queue(*events: Event, size: int = 100) -> EventQueue:
    queue = EventQueue(size)
    for one in events:
        queue.put(one)
    return queue


def taken(queue: EventQueue) -> list[str]:
    names = []
    while (found := queue.take()) is not None:
        names.append(found.about.name)
        queue.done(found.namespace)
    return names


def test_namespaces_take_turns_and_each_keeps_its_order() -> None:
    queue = a_queue(*(event("a", f"a{n}") for n in range(3)), event("b", "b0"), event("b", "b1"))
    assert taken(queue) == ["a0", "b0", "a1", "b1", "a2"]
    assert len(queue) == 0


def test_one_of_a_namespace_at_a_time() -> None:
    queue = a_queue(event("a", "a0"), event("a", "a1"))
    first = queue.take()
    assert first is not None
    assert queue.first() is queue.take() is None
    queue.put(event("a", "a2"))
    assert queue.take() is None
    queue.done(first.namespace)
    assert taken(queue) == ["a1", "a2"]


def test_a_full_queue_drops_its_oldest() -> None:
    queue = a_queue(event("a", "a0", 1), event("b", "b0", 2), event("a", "a1", 3), size=3)
    assert queue.put(event("c", "c0", 4))
    assert len(queue) == 3
    assert taken(queue) == ["a1", "b0", "c0"]


def test_or_the_oldest_of_a_namespace_whose_events_fail() -> None:
    queue = a_queue(event("a", "a0", 1), event("b", "b0", 2), event("b", "b1", 3), size=2)
    found = queue.take()
    assert found is not None
    queue.tried("b", taken=False)
    queue.put(event("a", "a1", 4))
    queue.put(event("a", "a2", 5))
    assert found.namespace == "b"
    queue.done("b")
    assert taken(queue) == ["a1", "a2"]


def test_nothing_is_left_of_a_namespace() -> None:
    queue = a_queue(*(event(f"n{n}", "x", n) for n in range(50)), size=10)
    queue.tried("n45", taken=False)
    assert len(taken(queue)) == 10
    assert queue.namespaces == 0


def test_nor_of_one_whose_events_failed() -> None:
    queue = a_queue(event("a", "a0"))
    queue.take()
    queue.tried("a", taken=False)
    assert queue.namespaces == 1
    queue.done("a")
    assert queue.namespaces == 0


class Age(float):
    """A time that counts how often it is compared."""

    compared = 0

    def __lt__(self, other: float) -> bool:
        Age.compared += 1
        return float(self) < float(other)

    def __eq__(self, other: object) -> bool:
        Age.compared += 1
        return float(self) == other

    __hash__ = float.__hash__


@pytest.mark.parametrize("failing", [0, 500])
def test_what_is_dropped_is_found_without_a_look_at_every_namespace(failing: int) -> None:
    """With 1,000 of them; a look at each would be 1,000 steps for each event that is too many."""
    queue = EventQueue(10_000)
    for n in range(10_000):
        queue.put(event(f"n{n % 1_000}", f"e{n}", Age(n)))
    for n in range(failing):
        queue.tried(f"n{n}", taken=False)
    Age.compared = 0
    for n in range(10_000, 11_000):
        assert queue.put(event(f"n{n % 1_000}", f"e{n}", Age(n)))
    assert Age.compared < 1_000 * 60
    assert len(queue) == 10_000


def test_the_oldest_goes_first_whatever_was_written_in_between() -> None:
    """Against the plain rule: of those whose events fail, or else of all, the oldest."""
    chance, queue, waiting = random.Random(1), EventQueue(40), list[Event]()
    failing, names = set[str](), [f"n{n}" for n in range(7)]
    for n in range(4_000):
        one = event(chance.choice(names), f"e{n}", float(n))
        expected = None
        if len(queue) == 40:
            among = [e for e in waiting if e.namespace in failing] or waiting
            expected = min(among, key=lambda e: e.since)
            waiting.remove(expected)
            if expected.namespace not in {e.namespace for e in waiting}:
                failing.discard(expected.namespace)
        assert queue.put(one) == (expected is not None)
        waiting.append(one)
        if chance.random() < 0.6:
            found = queue.take()
            assert found is not None
            waiting.remove(found)
            bad = chance.random() < 0.3
            queue.tried(found.namespace, taken=not bad)
            (failing.add if bad else failing.discard)(found.namespace)
            queue.done(found.namespace)
            if found.namespace not in {e.namespace for e in waiting}:
                failing.discard(found.namespace)
        assert len(queue) == len(waiting)
        assert queue.sound == sum(e.namespace not in failing for e in waiting)
    assert max(containers(queue).values()) <= 2 * 7 + 64 + 1
    left = []
    while (found := queue.take()) is not None:
        left.append(found)
        queue.done(found.namespace)
    assert sorted(left, key=lambda e: e.since) == sorted(waiting, key=lambda e: e.since)

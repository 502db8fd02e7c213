"""Who is written next, and who goes when too many wait."""

import random

from cardquota.cluster.events import Event, EventQueue, ObjectReference


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


def test_a_full_queue_drops_the_oldest_of_the_namespace_with_most() -> None:
    queue = a_queue(event("b", "b0", 1), event("a", "a0", 2), event("a", "a1", 3), size=3)
    assert queue.put(event("c", "c0", 4))
    assert len(queue) == 3
    assert taken(queue) == ["b0", "a1", "c0"]


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


def test_those_that_wait_are_counted_whatever_was_written_in_between() -> None:
    chance, queue, waiting = random.Random(1), EventQueue(4_000), list[Event]()
    failing, names = set[str](), [f"n{n}" for n in range(7)]
    for n in range(1_000):
        one = event(chance.choice(names), f"e{n}", float(n))
        assert not queue.put(one)
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
    left = []
    while (found := queue.take()) is not None:
        left.append(found)
        queue.done(found.namespace)
    assert sorted(left, key=lambda e: e.since) == sorted(waiting, key=lambda e: e.since)

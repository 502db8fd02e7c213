"""Who is written next, and who goes when too many wait."""

from cardquota.cluster.event import Event, ObjectReference
from cardquota.cluster.event_queue import EventQueue


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
    left = (queue._waiting, queue._ready, queue._busy, queue._failing)
    assert not any(left)

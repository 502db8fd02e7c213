"""Namespaces whose gates do not open have a share of the slots, all of them together."""

from cardquota.control.release.namespace_circuit_breaker import NamespaceCircuitBreaker


def suspects(slots: int = 8, gone: frozenset[str] = frozenset()) -> NamespaceCircuitBreaker:
    return NamespaceCircuitBreaker(slots, lambda namespace: namespace not in gone)


def fails(found: NamespaceCircuitBreaker, namespace: str, times: int = 3) -> None:
    for _ in range(times):
        found.end(namespace, begun=found.begin(namespace), worked=False)


def test_one_failure_is_nothing() -> None:
    found = suspects()
    fails(found, "a", 2)
    assert [found.begin("a") for _ in range(20)] == [False] * 20
    assert found.may_send("a")


def test_a_suspect_has_a_quarter_of_the_slots_and_others_all() -> None:
    found = suspects()
    fails(found, "a")
    fails(found, "b")
    assert found.begin("a")
    assert found.may_send("b")
    assert found.begin("b")
    assert not found.may_send("a")
    assert not found.may_send("b")
    assert found.may_send("c")
    found.end("a", begun=True, worked=None)
    assert found.may_send("b")


def test_one_success_clears_it() -> None:
    found = suspects(1)
    fails(found, "a")
    begun = found.begin("a")
    assert not found.may_send("a")
    found.end("a", begun=begun, worked=True)
    found.begin("a")
    assert found.may_send("a")


def test_namespaces_that_are_gone_are_forgotten() -> None:
    """Bounded by those that exist, and some."""
    names = [f"n{number}" for number in range(1_000)]
    found = suspects(gone=frozenset(names))
    for name in names:
        fails(found, name, 1)
    assert len(found._failures) <= 64


def test_of_a_suspect_namespace_one_gang_starts_at_a_time() -> None:
    found = suspects()
    start = found.start("a")
    assert found.may_start("a")
    fails(found, "a")
    fails(found, "b")
    assert not found.may_start("a")
    assert found.may_start("b")
    start.end()
    assert found.may_start("a")
    found.begin("b")
    found.begin("b")
    assert not found.may_start("a")


def test_a_start_that_is_ended_twice_ends_no_other() -> None:
    found = suspects()
    fails(found, "a")
    start, _ = found.start("a"), found.start("a")
    start.end()
    start.end()
    assert not found.may_start("a")

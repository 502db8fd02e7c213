"""Namespaces whose gates do not open have a share of the slots, all of them together."""

from cardquota.control.release import NamespaceCircuitBreaker


def a_breaker(slots: int = 8, gone: frozenset[str] = frozenset()) -> NamespaceCircuitBreaker:
    return NamespaceCircuitBreaker(slots, lambda namespace: namespace not in gone)


def fails(breaker: NamespaceCircuitBreaker, namespace: str, times: int = 3) -> None:
    for _ in range(times):
        breaker.end(namespace, begun=breaker.begin(namespace), worked=False)


def test_one_success_clears_it() -> None:
    breaker = a_breaker(1)
    fails(breaker, "a")
    begun = breaker.begin("a")
    assert not breaker.allows_patch("a")
    breaker.end("a", begun=begun, worked=True)
    breaker.begin("a")
    assert breaker.allows_patch("a")


def test_namespaces_that_are_gone_are_forgotten() -> None:
    """Bounded by those that exist, and some."""
    names = [f"n{number}" for number in range(1_000)]
    breaker = a_breaker(gone=frozenset(names))
    for name in names:
        fails(breaker, name, 1)
    assert len(breaker) <= 64


def test_of_a_tripped_namespace_one_gang_starts_at_a_time() -> None:
    breaker = a_breaker()
    start = breaker.start("a")
    assert breaker.allows_gang("a")
    fails(breaker, "a")
    fails(breaker, "b")
    assert not breaker.allows_gang("a")
    assert breaker.allows_gang("b")
    start.end()
    assert breaker.allows_gang("a")
    breaker.begin("b")
    breaker.begin("b")
    assert not breaker.allows_gang("a")


def test_a_start_that_is_ended_twice_ends_no_other() -> None:
    breaker = a_breaker()
    fails(breaker, "a")
    start, _ = breaker.start("a"), breaker.start("a")
    start.end()
    start.end()
    assert not breaker.allows_gang("a")

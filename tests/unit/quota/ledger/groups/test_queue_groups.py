"""Q8, T2: the pod groups of a queue."""

from builders import CARDS, H200, a_group, a_ledger, a_queue, see

QUEUE = a_queue("red").with_quota({H200: 1})
GROUP = a_group("gang").in_queue("red").of(2)


def test_a_group_is_found_by_the_queue_that_it_names_now() -> None:
    ledger = a_ledger(*CARDS, QUEUE, GROUP, a_group("other").in_queue("red").of(2))
    assert list(ledger.queue_groups.of("red")) == ["team/gang", "team/other"]
    see(ledger, a_group("gang").in_queue("blue").of(2))
    assert list(ledger.queue_groups.of("red")) == ["team/other"]
    assert list(ledger.queue_groups.of("blue")) == ["team/gang"]
    ledger.group_gone("team/gang")
    ledger.group_gone("team/other")
    assert not ledger.queue_groups.of("red")
    assert dict(ledger.queue_groups.all()) == {}


def test_a_group_that_reserves_something_is_found_by_the_queue_where_it_does() -> None:
    ledger = a_ledger(*CARDS, QUEUE, GROUP)
    assert not ledger.reserved_groups.of("red")
    see(ledger, GROUP.reserving("red", {H200: 2}))
    assert list(ledger.reserved_groups.of("red")) == ["team/gang"]
    see(ledger, GROUP.reserving("blue", {H200: 2}))
    assert not ledger.reserved_groups.of("red")
    assert list(ledger.reserved_groups.of("blue")) == ["team/gang"]
    ledger.group_gone("team/gang")
    assert dict(ledger.reserved_groups.all()) == {}

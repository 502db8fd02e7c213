"""Healthy is an API server that answers every renewal within a second of its being sent in time."""

from cardquota.cluster.election import Renewals


def begun() -> Renewals:
    """With a renewal every second; acquired at 10, answered at once."""
    renewals = Renewals(1.0)
    renewals.begin(10.0, 10.1)
    return renewals


def test_before_the_first_term_nothing_was_healthy() -> None:
    assert Renewals(1.0).healthy_since(5.0) == 5.0


def test_renewals_in_time_leave_it_healthy_since_the_acquisition() -> None:
    renewals = begun()
    renewals.succeeded(11.0, 11.9)
    renewals.succeeded(12.0, 12.1)
    assert renewals.sent == 12.0
    assert renewals.healthy_since(12.5) == 10.1


def test_a_late_answer_begins_anew() -> None:
    renewals = begun()
    renewals.succeeded(11.0, 12.5)
    assert renewals.healthy_since(12.6) == 12.5


def test_a_renewal_sent_late_begins_anew() -> None:
    renewals = begun()
    renewals.succeeded(12.5, 12.6)
    assert renewals.healthy_since(12.7) == 12.6


def test_a_renewal_that_failed_begins_anew() -> None:
    renewals = begun()
    renewals.failed(11.2)
    assert renewals.healthy_since(11.5) == 11.2


def test_one_that_is_still_unanswered_counts_before_it_is_over() -> None:
    assert begun().healthy_since(12.9) == 10.1
    assert begun().healthy_since(13.1) == 13.1

"""When a watch cannot go on from its revision, so that only a list helps."""

import pytest

from cardquota.cluster.api import ApiError
from cardquota.cluster.watch import ResumePolicy, StreamError


@pytest.mark.parametrize("status", [400, 410])
def test_a_revision_that_is_refused_is_lost_at_once(status: int) -> None:
    assert ResumePolicy().is_lost(ApiError(status, "", ""), 7)
    assert ResumePolicy().is_lost(StreamError(status, "", ""), 7)


def test_an_error_on_a_stream_counts_at_the_second_time_without_progress() -> None:
    policy, error = ResumePolicy(), StreamError(500, "InternalError", "unable to decode")
    assert not policy.is_lost(error, 7)
    assert not policy.is_lost(error, 8)
    assert policy.is_lost(error, 8)


def test_a_list_makes_up_for_what_failed_before() -> None:
    policy, error = ResumePolicy(), StreamError(500, "InternalError", "unable to decode")
    assert not policy.is_lost(error, 7)
    policy.list_done()
    assert not policy.is_lost(error, 7)


@pytest.mark.parametrize("status", [429, 503, 504])
def test_an_overloaded_server_is_not_asked_for_a_list(status: int) -> None:
    policy = ResumePolicy()
    assert not any(policy.is_lost(StreamError(status, "", ""), 7) for _ in range(3))


def test_a_watch_that_was_not_even_opened_says_nothing_of_its_revision() -> None:
    policy = ResumePolicy()
    assert not any(policy.is_lost(ApiError(500, "", ""), 7) for _ in range(3))

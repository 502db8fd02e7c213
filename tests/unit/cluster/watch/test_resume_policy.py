"""When a watch cannot go on from its revision, so that only a list helps."""

import pytest

from cardquota.cluster.api.api_error import ApiError
from cardquota.cluster.watch.resume_policy import ResumePolicy, StreamError


@pytest.mark.parametrize("status", [400, 410])
def test_a_revision_that_is_refused_is_lost_at_once(status: int) -> None:
    assert ResumePolicy().is_lost(ApiError(status, "", ""), 7)
    assert ResumePolicy().is_lost(StreamError(status, "", ""), 7)


def test_an_error_on_a_stream_counts_at_the_second_time_without_progress() -> None:
    foothold, error = ResumePolicy(), StreamError(500, "InternalError", "unable to decode")
    assert not foothold.is_lost(error, 7)
    assert not foothold.is_lost(error, 8)
    assert foothold.is_lost(error, 8)


def test_a_list_makes_up_for_what_failed_before() -> None:
    foothold, error = ResumePolicy(), StreamError(500, "InternalError", "unable to decode")
    assert not foothold.is_lost(error, 7)
    foothold.regained()
    assert not foothold.is_lost(error, 7)


@pytest.mark.parametrize("status", [429, 503, 504])
def test_an_overloaded_server_is_not_asked_for_a_list(status: int) -> None:
    foothold = ResumePolicy()
    assert not any(foothold.is_lost(StreamError(status, "", ""), 7) for _ in range(3))


def test_a_watch_that_was_not_even_opened_says_nothing_of_its_revision() -> None:
    foothold = ResumePolicy()
    assert not any(foothold.is_lost(ApiError(500, "", ""), 7) for _ in range(3))

import pytest

from cardquota.loop import Backoff


def test_doubles_up_to_the_cap_and_begins_again() -> None:
    backoff = Backoff(1.0, 5.0, random=lambda: 1.0)
    assert [backoff.next() for _ in range(5)] == [1.0, 2.0, 4.0, 5.0, 5.0]
    backoff.reset()
    assert backoff.next() == 1.0


def test_jitter_takes_away_at_most_half() -> None:
    assert Backoff(1.0, 5.0, random=lambda: 0.0).next() == 0.5


def test_what_the_api_server_asks_for_is_honoured_within_reason() -> None:
    backoff = Backoff(1.0, 5.0, random=lambda: 1.0)
    assert backoff.next(retry_after=7.0) == 7.0
    assert backoff.next(retry_after=0.1) == 2.0
    assert backoff.next(retry_after=3600.0) == 60.0


@pytest.mark.parametrize(("first", "cap"), [(0.0, 1.0), (2.0, 1.0)])
def test_arguments_are_checked(first: float, cap: float) -> None:
    with pytest.raises(ValueError, match="must hold"):
        Backoff(first, cap)

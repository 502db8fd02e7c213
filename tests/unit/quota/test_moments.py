"""Times of day of any origin."""

import pytest

from cardquota.quota import read_moment, seconds_of, time_text


def test_the_forms_that_the_api_server_has() -> None:
    assert read_moment("1970-01-01T00:00:01Z") == 1_000
    assert read_moment("1970-01-01T00:00:01.500000Z") == 1_500
    assert read_moment("1970-01-01T01:00:00+01:00") == 0


@pytest.mark.parametrize(
    "text",
    [
        *(None, 7, "", "now", "2026-13-01T00:00:00Z", "2026-01-01T00:00:00", ["2026"]),
        *("0001-01-01T00:00:00+14:00", "2026-01-01T00:00:00Z" + " " * 100),
    ],
)
def test_whatever_else_it_is_it_says_no_time(text: object) -> None:
    found = read_moment(text)
    assert found is None or found < 0  # the year 1 is a time, where the machine can count it


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("1970-01-01T00:01:00Z", 60),
        ("1970-01-01T01:01:00.5+01:00", 60),
        ("0001-01-01T00:00:00Z", -62_135_596_800),
        ("9999-12-31T23:59:59Z", 253_402_300_799),
    ],
)
def test_in_seconds(text: str, seconds: int) -> None:
    assert seconds_of(text) == seconds


@pytest.mark.parametrize("text", ["0001-01-01T00:00:00Z", "2026-11-23T04:37:35Z"])
def test_a_time_is_written_as_the_api_server_does(text: str) -> None:
    seconds = seconds_of(text)
    assert seconds is not None
    assert time_text(seconds) == text

"""Section 9, I4: amounts in people's units, and what users wrote, made fit to show."""

import pytest

from builders import H200
from cardquota.quota import amount_text, lasting, listed, logged, memory_text, show


def test_amounts_are_in_peoples_units() -> None:
    assert amount_text(H200, 5) == "5"
    assert amount_text("cpu", 4_500) == "4.5"
    assert amount_text("memory", 9 * 2**30) == "9Gi"


@pytest.mark.parametrize(
    ("amount", "text"),
    [(4_000, "4"), (4_500, "4.5"), (250, "0.25"), (1, "0.001"), (0, "0"), (-1_500, "-1.5")],
)
def test_section_9_cpu_is_shown_in_cores(amount: int, text: str) -> None:
    assert amount_text("cpu", amount) == text


@pytest.mark.parametrize(
    ("amount", "text"),
    [
        (9 * 2**30, "9Gi"),
        (2**29, "0.5Gi"),
        (2**20, "1Mi"),
        (3 * 2**10, "3Ki"),
        (1_000, "1000"),
        (10**9, "0.931Gi"),
        (0, "0"),
        (-(2**30), "-1Gi"),
    ],
)
def test_section_9_memory_is_shown_in_gi(amount: int, text: str) -> None:
    assert memory_text(amount) == text


def test_text_for_messages_is_short_and_printable() -> None:
    assert show("A\x1b[31m\n") == "A?[31m?"
    assert len(show("x" * 10_000)) == 80


def test_of_many_names_the_first_are_listed_and_the_rest_counted() -> None:
    assert listed([]) == "none"
    assert listed(["a", "b"], " and ") == "a and b"
    assert listed(list("abcdefg")) == "a, b, c, d, e and 2 more"
    assert listed(["a", "b\n", "c"], most=2) == "a, b? and 1 more"


def test_names_in_a_line_of_the_log_have_a_bound() -> None:
    assert logged("team", "gang") == "team/gang"
    assert logged("n" * 253, "p" * 253) == f"{'n' * 253}/{'p' * 253}"
    assert len(logged("n" * 10_000, "gang")) == 507


def test_how_long_something_lasts() -> None:
    found = [lasting(seconds) for seconds in (0, 119, 120, 7_199, 7_200, 172_799, 172_800)]
    assert found == ["0 s", "119 s", "2 min", "119 min", "2 h", "47 h", "2 d"]

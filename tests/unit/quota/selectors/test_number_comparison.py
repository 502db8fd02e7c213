"""Numbers of labels and taints, as the scheduler reads them (Go's `strconv.ParseInt`)."""

import re
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cardquota.quota.selectors import compares, whole_number

LARGEST = str(2**63 - 1)


@pytest.mark.parametrize(
    ("of_node", "of_pod", "above", "below"),
    [
        ("10", "9", True, False),
        ("9", "10", False, True),
        ("9", "9", False, False),
        ("-1", "0", False, True),
        ("+7", "007", False, False),
        (LARGEST, "0", True, False),
        ("0" * 5_000 + "8", "7", True, False),
    ],
)
def test_whole_numbers(of_node: str, of_pod: str, *, above: bool, below: bool) -> None:
    assert compares("Gt", of_node, of_pod) is above
    assert compares("Lt", of_node, of_pod) is below


@pytest.mark.parametrize(
    "text", ["", "many", "1.5", " 1", "1_0", "٣", "--1", "9223372036854775808", "1" * 5_000]
)
def test_what_is_no_number_is_neither_above_nor_below(text: str) -> None:
    for operator in ("Gt", "Lt"):
        assert not compares(operator, text, "5")
        assert not compares(operator, "5", text)


def test_a_long_text_that_is_none_is_gone_through_once() -> None:
    begun = time.process_time()
    assert whole_number("0" * 10_000_000 + "x") is None
    assert time.process_time() - begun < 10, "again and again would be hours"


@given(st.text("019+- x", max_size=6) | st.from_regex(r"[+-]?0*[0-9]{17,21}", fullmatch=True))
def test_a_number_is_digits_with_or_without_a_sign(text: str) -> None:
    number = int(text) if re.fullmatch(r"[+-]?[0-9]+", text, re.ASCII) else None
    fits = number is not None and -(2**63) <= number < 2**63
    assert whole_number(text) == (number if fits else None)

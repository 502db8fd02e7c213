"""R6: what a queue says that rolling updates may borrow."""

import pytest

from builders import H200, H800
from cardquota.quota import LARGEST
from cardquota.quota.cards.card import NO_SURGE
from cardquota.quota.cards.quota_text import QuotaTextError, read_surge


def test_a_number_is_meant_of_each_card() -> None:
    surge = read_surge(" 2\n")
    assert (surge.of(H200), surge.of(H800)) == (2, 2)
    assert surge
    assert not read_surge("0")
    assert not NO_SURGE


def test_an_object_says_it_by_card() -> None:
    surge = read_surge(f'{{"{H200}": 1, "{H800}": 0}}')
    assert (surge.of(H200), surge.of(H800)) == (1, 0)
    assert not read_surge("{}")
    assert not read_surge(f'{{"{H800}": 0}}')


@pytest.mark.parametrize(
    "text",
    [
        *("", "-1", "1.5", "1e3", "null", "[]", '"1"', "true", "\u0661", "1" * 33),
        *(" " * 70_000 + "1", str(LARGEST + 1), "[" * 9_000),
        *('{"A": -1}', '{"A": 1, "A": 1}', '{"A|B": 1}', '{"A": "1"}'),
    ],
)
def test_anything_else_cannot_be_read(text: str) -> None:
    with pytest.raises(QuotaTextError):
        read_surge(text)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("-1", "it is neither a whole number nor a JSON object"),
        (str(LARGEST + 1), "it is more than can be counted"),
        ('{"A": 1, "A": 1}', "the card <A> stands there twice"),
    ],
)
def test_what_is_wrong_is_said(text: str, problem: str) -> None:
    with pytest.raises(QuotaTextError, match=problem):
        read_surge(text)

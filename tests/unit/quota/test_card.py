"""P2: a card's name, and the alternatives a pod writes."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from builders import H200, H800
from cardquota.quota.card import LONGEST_NAME, CardNameError, check_name, read_alternatives


def test_p2_one_card() -> None:
    assert read_alternatives(H200) == (H200,)


def test_p2_alternatives_are_trimmed_and_kept_in_order() -> None:
    assert read_alternatives(f" {H800} |  {H200}") == (H800, H200)


def test_p2_alternatives_are_deduplicated() -> None:
    assert read_alternatives(f"{H200}|{H800}| {H200}") == (H200, H800)


@pytest.mark.parametrize("text", ["A||B", "|A", "A|", "|", "||||", "A| |B"])
def test_p2_an_empty_alternative_is_refused(text: str) -> None:
    with pytest.raises(CardNameError, match="empty alternative"):
        read_alternatives(text)


@pytest.mark.parametrize("text", ["", "   ", "\n"])
def test_p2_an_empty_text_is_refused(text: str) -> None:
    with pytest.raises(CardNameError, match="empty"):
        read_alternatives(text)


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("", "empty"),
        ("x" * 10_000, "more than 256"),
        (" A", "space"),
        ("A\t", "space"),
        ("A\x00B", "control"),
        ("A\u202eB", "control"),
        ("A|B", "choice of cards"),
        ("cpu", "spec.capability"),
        ("memory", "spec.capability"),
    ],
)
def test_a_name_that_can_be_no_cards_is_refused_in_short_words(name: str, why: str) -> None:
    with pytest.raises(CardNameError, match=why) as caught:
        check_name(name)
    assert len(str(caught.value)) < 200
    assert str(caught.value).isprintable()


def test_a_name_of_the_greatest_length_is_one() -> None:
    check_name("x" * LONGEST_NAME)


@given(st.text())
def test_any_text_is_read_or_refused(text: str) -> None:
    try:
        names = read_alternatives(text)
    except CardNameError:
        return
    assert names
    assert len(set(names)) == len(names)
    assert read_alternatives("|".join(names)) == names

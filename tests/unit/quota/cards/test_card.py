"""P2: a card's name, and the alternatives a pod writes."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cardquota.quota.cards import CardNameError, can_exist, check_name, read_alternatives


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


@given(st.text())
def test_any_text_is_read_or_refused(text: str) -> None:
    try:
        names = read_alternatives(text)
    except CardNameError:
        return
    assert names
    assert len(set(names)) == len(names)
    assert read_alternatives("|".join(names)) == names


@pytest.mark.parametrize(
    "name",
    [
        "NVIDIA-H200",
        "a",
        "A" * 63,
        "NVIDIA-H200/mig-1g.18gb-mixed",
        "NVIDIA-H100/mig-1g.10gb.me-mixed",
        "NVIDIA-H800/mps-80g*1/2",
        "NVIDIA-H800/shared-80g*1/16",
    ],
)
def test_d9_what_a_nodes_label_can_say_can_be_a_card(name: str) -> None:
    assert can_exist(name)


@pytest.mark.parametrize(
    "name",
    ["NVIDIA H200", "nvidia.com/gpu", "A" * 64, "A/", "/A", "A/b/c", "é", "-A", "A/mps-80g*1/0"],
)
def test_d9_what_no_label_can_say_is_no_card(name: str) -> None:
    assert not can_exist(name)

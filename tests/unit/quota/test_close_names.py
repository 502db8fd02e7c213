"""Which of the names that exist was meant by one that does not."""

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cardquota.quota import LONGEST, MOST_CLOSE, MOST_NAMES
from cardquota.quota.close_names import close_names

from ..steps import steps_of


@pytest.mark.parametrize(
    ("written", "name"),
    [
        ("nvidia-h200", "NVIDIA-H200"),
        ("NVIDIA-H20O", "NVIDIA-H200"),
        ("NVIDIA H200", "NVIDIA-H200"),
        ("NVIDIA-H2000", "NVIDIA-H200"),
        ("H200", "NVIDIA-H200"),
        ("h200", "NVIDIA-H200-NVL"),
        ("4090", "NVIDIA-GeForce-RTX-4090"),
        ("nvidia.com/NVIDIA-H200", "NVIDIA-H200"),
        ("H800", "NVIDIA-H800/mig-1g.10gb-mixed"),
        ("reserach", "research"),
        ("trian", "train"),
    ],
)
def test_what_was_probably_meant_is_close(written: str, name: str) -> None:
    assert close_names(written, [name], cards=True) == [name]
    assert close_names(written, ["quite-different", name], cards=True) == [name]


@pytest.mark.parametrize(
    ("written", "name"),
    [
        ("H200", "A100"),
        ("NVIDIA-H200", "AMD-MI300X"),
        ("200", "NVIDIA-H200"),
        ("H2", "NVIDIA-H2"),
        ("", "a"),
        ("a", "a"),
        ("x" * (LONGEST + 1), "x" * LONGEST),
        ("x" * LONGEST, "x" * (LONGEST + 1)),
    ],
)
def test_what_has_little_in_common_is_not(written: str, name: str) -> None:
    assert close_names(written, [name], cards=True) == []


def test_the_closest_comes_first_and_parts_come_last() -> None:
    names = ["NVIDIA-H200-NVL", "NVIDIA-H200", "H20", "NVIDIA-A100"]
    assert close_names("H200", names, cards=True) == ["H20", "NVIDIA-H200", "NVIDIA-H200-NVL"]
    assert close_names("nvidia-h20", ["NVIDIA-H100", "NVIDIA-H20"])[0] == "NVIDIA-H20"
    assert close_names("H200", ["NVIDIA-H200"]) == []


def test_numbered_objects_are_not_taken_for_each_other() -> None:
    """A group that is yet to be created is no typing error of the one before it."""
    assert close_names("train-8", ["train-7", "train-6"]) == []
    assert close_names("trian-7", ["train-7"]) == ["train-7"]
    assert close_names("cr-queue", ["cr-queue1"]) == ["cr-queue1"]
    assert close_names("cr-queue1", ["cr-queue"]) == []
    assert close_names("train-7", ["Train-7"]) == ["Train-7"]


@given(st.lists(st.text("ab-", max_size=8), max_size=50), st.text("ab-", max_size=8), st.booleans())
def test_each_is_one_that_exists_and_never_itself(
    names: list[str], written: str, cards: bool
) -> None:
    found = close_names(written, names, cards=cards)
    assert {*found} <= {*names} - {written}
    assert len({*found}) == len(found) <= MOST_CLOSE


def test_among_a_thousand_it_is_found_and_among_more_none() -> None:
    some = random.Random(1)
    words = ["".join(some.choices("abcdefghij", k=12)) for _ in range(MOST_NAMES - 1)]
    alike = [f"NVIDIA-{n}-H{n}00-SXM" for n in range(MOST_NAMES - 1)]
    for others in (words, alike):
        names = [*others, "MVIDIA-L40S-48GB"]
        for written in ("mvidia-l40s-48gb", "NVIDIA-L40S-48GB", "MVIDIA-L4OS-48GB", "L40S"):
            assert close_names(written, names, cards=True)[0] == "MVIDIA-L40S-48GB"
        assert close_names("NVIDIA-L40S-48GB", [*names, "one-more"], cards=True) == []


@pytest.mark.parametrize("letters", ["a", "ab", "abcdefghij"])
def test_i5_a_question_costs_no_more_whatever_names_somebody_chose(letters: str) -> None:
    """Compared with all of a thousand, `aaa...` alone would take a second."""
    text = letters * LONGEST
    names = [text[n % 10 :][: LONGEST - n // 20] + "-" * (n % 3) for n in range(MOST_NAMES)]
    written = text[1:LONGEST][::-1]
    assert steps_of(lambda: close_names(written, names, cards=True)) < 400_000

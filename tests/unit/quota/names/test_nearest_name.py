"""How near two names are."""

from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cardquota.quota.names.nearest_name import (
    LONGEST,
    MOST_EDITS,
    Effort,
    edits_between,
    nearness,
    parts_of,
)

from ...steps import steps_of

TEXTS = st.text("abO0-", max_size=9)


def plain_edits(one: str, other: str) -> int:
    """The whole table, as it is in textbooks."""
    table = {(0, at): at for at in range(len(other) + 1)}
    for row, char in enumerate(one, 1):
        table[row, 0] = row
        for at, theirs in enumerate(other, 1):
            kept = table[row - 1, at - 1] + (char != theirs)
            table[row, at] = min(kept, table[row - 1, at] + 1, table[row, at - 1] + 1)
            if one[row - 2 : row] == other[at - 2 : at][::-1] and min(row, at) > 1:
                table[row, at] = min(table[row, at], table[row - 2, at - 2] + 1)
    return table[len(one), len(other)]


@given(TEXTS, TEXTS, st.integers(0, 5))
def test_edits_are_those_of_the_whole_table_up_to_the_bound(
    one: str, other: str, most: int
) -> None:
    edits = plain_edits(one, other)
    assert edits_between(one, other, most) == (edits if edits <= most else None)


def test_edits_between_all_short_texts() -> None:
    """By chance texts seldom have both a common end and something left before it."""
    texts = ["".join(one) for size in range(5) for one in product("abc", repeat=size)]
    for one, other in product(texts[::2], texts):
        edits = plain_edits(one, other)
        assert edits_between(one, other, 2) == (edits if edits <= 2 else None), (one, other)


@given(st.text(max_size=12), st.text(max_size=12))
def test_of_any_characters(one: str, other: str) -> None:
    found = nearness(one, other)
    assert found is None or found.name == other
    assert nearness(one, one) is not None


@pytest.mark.parametrize(
    ("written", "name"),
    [
        ("nvidia-h200", "NVIDIA-H200"),
        ("NVIDIA-H20O", "NVIDIA-H200"),
        ("NVIDIA H200", "NVIDIA-H200"),
        ("H200", "NVIDIA-H200"),
        ("h200", "NVIDIA-H200-NVL"),
        ("nvidia.com/NVIDIA-H200", "NVIDIA-H200"),
        ("H800", "NVIDIA-H800/mig-1g.10gb-mixed"),
        ("reserach", "research"),
        ("trian", "train"),
        ("Research", "research"),
    ],
)
def test_what_was_probably_meant_is_near(written: str, name: str) -> None:
    assert nearness(written, name) is not None


@pytest.mark.parametrize(
    ("written", "name"),
    [
        ("H200", "A100"),
        ("NVIDIA-H200", "AMD-MI300X"),
        ("200", "NVIDIA-H200"),
        ("H20", "NVIDIA-H200"),
        ("ab", "ac"),
        ("", "a"),
        ("x" * (LONGEST + 1), "x" * (LONGEST + 1)),
    ],
)
def test_what_has_little_in_common_is_not(written: str, name: str) -> None:
    """Two letters of six are a typing error; two of four are another name."""
    assert nearness(written, name) is None


@pytest.mark.parametrize(
    ("written", "nearest_first"),
    [
        ("nvidia-h20", ["NVIDIA-H20", "NVIDIA-H200", "NVIDIA-H2000"]),
        ("H200", ["H20", "NVIDIA-H200", "NVIDIA-H200-NVL"]),
        ("NVIDIA-H20O", ["NVIDIA-H200", "NVIDIA-H20", "NVIDIA-H100"]),
    ],
)
def test_one_edit_comes_before_a_part_and_a_part_before_more_edits(
    written: str, nearest_first: list[str]
) -> None:
    """Of alike ones that of the same length comes first, then the alphabet."""
    found = [nearness(written, name) for name in reversed(nearest_first)]
    assert [one.name for one in sorted(one for one in found if one)] == nearest_first


def test_the_parts_of_a_name() -> None:
    assert parts_of("nvidia-h200-sxm/x", 2) == ["h200-sxm/x", "sxm/x"]
    assert parts_of("a-", 4) == []


def test_a_comparison_costs_by_the_length_times_the_bound() -> None:
    """Whatever is written: these share all letters, and neither start nor end."""
    one, other = "x" + "ab" * (LONGEST // 2 - 1), "ab" * (LONGEST // 2 - 1) + "y"
    assert nearness(one, other) is not None
    assert steps_of(lambda: nearness(one, other)) < LONGEST * (2 * MOST_EDITS + 10)


def test_once_the_effort_is_spent_only_the_same_name_is_near() -> None:
    for written, name in (("reserach", "research"), ("H200", "NVIDIA-H200")):
        assert nearness(written, name, Effort(100)) is not None
        assert nearness(written, name, Effort(0)) is None
    assert nearness("Research", "research", Effort(0)) is not None


@pytest.mark.parametrize(
    ("one", "other"),
    [("research", "reserach"), ("abc" * 10, "xyz" * 10), (f"{'a' * 30}b", f"{'a' * 30}c")],
)
def test_each_comparison_takes_from_the_effort_at_least_by_the_length(one: str, other: str) -> None:
    """Also one that common ends, or the letters alone, decide."""
    effort = Effort(1_000)
    edits_between(one, other, MOST_EDITS, effort)
    assert effort.left < 1_000 - len(one) // 4


def test_several_comparisons_share_one_effort() -> None:
    effort = Effort(60)
    assert nearness("abcdefghi", "badcfeghi", effort) is not None
    assert nearness("abcdefghi", "badcfeghi", effort) is None
    assert effort.spent

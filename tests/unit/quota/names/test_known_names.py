"""The names that exist, and which of them were meant."""

import random
from collections.abc import Callable
from functools import partial

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cardquota.quota.names.known_names import LONGEST_OBJECT, MOST_NEAR, MOST_STEPS, KnownNames
from cardquota.quota.names.nearest_name import LONGEST, nearness

from ...steps import steps_of


def cards(*names: str) -> KnownNames:
    known = KnownNames(cards=True)
    for name in names:
        known.add(name)
    return known


def objects(*names: str) -> KnownNames:
    known = KnownNames()
    for name in names:
        known.add(name)
    return known


def near(known: KnownNames, written: str) -> list[str]:
    return [one.name for one in known.near(written)]


NAMES = st.lists(st.text("abc-", min_size=1, max_size=8), max_size=10)


@given(NAMES, NAMES, st.text("abc-", max_size=8))
def test_of_few_names_all_are_compared(there: list[str], gone: list[str], written: str) -> None:
    known = cards(*there, *gone)
    for name in gone:
        known.discard(name)
    left = {*there} - {*gone}
    nearest = sorted(one for name in left - {written} if (one := nearness(written, name)))
    assert len(known) == len(left)
    assert known.near(written) == tuple(nearest[:MOST_NEAR])


def test_a_name_that_comes_or_goes_changes_the_answer() -> None:
    known = cards("NVIDIA-H200")
    assert near(known, "NVIDIA-H20O") == ["NVIDIA-H200"]
    known.add("NVIDIA-H20o")
    assert near(known, "NVIDIA-H20O")[0] == "NVIDIA-H20o"
    known.discard("NVIDIA-H20o")
    known.discard("NVIDIA-H20o")
    assert near(known, "NVIDIA-H20O") == ["NVIDIA-H200"]


def test_among_thousands_it_is_found_by_its_start_its_end_and_its_parts() -> None:
    some = random.Random(1)
    others = ["".join(some.choices("abcdefghij", k=12)) for _ in range(5_000)]
    known = cards("NVIDIA-H200-141GB-HBM3e", "NVIDIA-L40S", *others)
    for written in ("H200", "nvidia-h200-141gb-hbm3e", "NVIDIA-H20O-141GB-HBM3e"):
        assert near(known, written)[0] == "NVIDIA-H200-141GB-HBM3e"
    for written in ("L40S", "MVIDIA-L40S", "NVIDIA-L40X", "nvidia-l40s"):
        assert near(known, written) == ["NVIDIA-L40S"]


def test_of_sixty_alike_names_the_nearest_is_found() -> None:
    known = cards(*(f"NVIDIA-H{n}00-SXM" for n in range(60)))
    for n in range(60):
        assert near(known, f"NVIDIA-H{n}0O-SXM")[0] == f"NVIDIA-H{n}00-SXM"


def test_numbered_objects_are_not_taken_for_each_other() -> None:
    """A group that is yet to be created is no typing error of the one before it."""
    assert near(objects("train-7", "train-6"), "train-8") == []
    assert near(objects("train-7"), "trian-7") == ["train-7"]
    assert near(objects("cr-queue1"), "cr-queue") == ["cr-queue1"]
    assert near(objects("cr-queue"), "cr-queue1") == []
    assert near(objects("Train-7"), "train-7") == ["Train-7"]
    assert near(cards("NVIDIA-H200"), "NVIDIA-H2000") == ["NVIDIA-H200"]


def test_long_names_cost_nothing() -> None:
    known = objects("x" * (LONGEST_OBJECT + 1))
    assert len(known) == 0
    assert known.near("x" * 3_000_000) == ()
    assert near(cards("x" * LONGEST), "X" * LONGEST) == ["x" * LONGEST]
    assert len(cards("x" * (LONGEST + 1))) == 0


def rotated(at: int, longest: int) -> str:
    """All are of the same letters, and neither start nor end alike."""
    text = "abcdefghij" * 11
    return text[at % 10 : at % 10 + longest - at // 10]


@pytest.mark.parametrize(
    ("known", "longest", "letters"),
    [
        (cards(), LONGEST, rotated),
        (objects(), LONGEST_OBJECT, rotated),
        (cards(), LONGEST, lambda at, longest: "aa-" * (longest // 3 - 1) + "a" * (at % 3 + 1)),
        (cards(), LONGEST, lambda at, longest: "a" * (longest - at)),
    ],
)
def test_a_question_costs_no_more_whatever_names_somebody_chose(
    known: KnownNames, longest: int, letters: Callable[[int, int], str]
) -> None:
    """A guess may be missed then. 64 of 100 characters would be 45,000 steps."""
    for at in range(64):
        known.add(letters(at, longest))
    for written in (rotated(1, longest - 1)[::-1], "b" + rotated(3, longest - 1), "aaa", "a-a"):
        assert steps_of(partial(known.near, written)) < 4 * MOST_STEPS


def test_where_not_all_can_be_compared_the_likeliest_are() -> None:
    known = cards(*(rotated(at, LONGEST) for at in range(64)), "NVIDIA-H200")
    written = rotated(0, LONGEST).upper()
    assert near(known, written)[0] == rotated(0, LONGEST)

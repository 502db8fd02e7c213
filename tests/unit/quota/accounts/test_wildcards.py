"""Which names a pattern of `card.namespaces` stands for."""

import re
from fnmatch import fnmatchcase

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from cardquota.quota.accounts import fits, is_pattern

from ...steps import steps_of

_ODD = re.compile(r"\[[^\]]*-.!")
"""`[b-a!c]`: fnmatch takes the `!` for a negation, as what stands before it is empty."""


@given(st.text("ab-", max_size=12), st.text("ab-*?[]!", max_size=14))
def test_it_is_what_fnmatch_says(name: str, pattern: str) -> None:
    assume(not _ODD.search(pattern))
    assert fits(name, pattern) is fnmatchcase(name, pattern)


@given(st.text(max_size=3), st.text(max_size=8), st.text(max_size=8))
def test_of_any_characters(name: str, before: str, within: str) -> None:
    pattern = f"{before}[{within}]*"
    assume(not _ODD.search(pattern))
    assert fits(name, pattern) is fnmatchcase(name, pattern)


@pytest.mark.parametrize(
    ("pattern", "name", "found"),
    [
        ("team-[a-c]", "team-b", True),
        ("team-[!a-c]", "team-b", False),
        ("team-[]]", "team-]", True),
        ("team-[", "team-[", True),
        ("team-?", "team-", False),
        ("*-prod", "team-prod-prod", True),
        ("T*", "team", False),
        ("", "", True),
    ],
)
def test_wildcards(pattern: str, name: str, found: bool) -> None:
    assert fits(name, pattern) is found


def test_what_has_a_wildcard_is_a_pattern() -> None:
    assert [is_pattern(text) for text in ("a*", "a?", "a[b]", "a-b")] == [True, True, True, False]


@pytest.mark.parametrize("pattern", ["a*" * 64, "*" + "a" * 60 + "b", "[!b-z]*" * 18, "*a" * 32])
def test_no_pattern_takes_long(pattern: str) -> None:
    assert steps_of(lambda: fits("a" * 63, pattern)) < 500

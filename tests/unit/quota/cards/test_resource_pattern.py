"""D6: whether two regular expressions for resource names have a name in common."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cardquota.quota.cards.resource_pattern import (
    LONGEST,
    LONGEST_NAME,
    Matcher,
    PatternError,
    common_name,
    read_pattern,
)

from ...containers import containers

_single = st.sampled_from(("a", "b", "1", "-", ".", "[ab]", "[a-c]", "[.b]", "[b-]", "[-1]", "[_]"))
_repeated = st.tuples(_single, st.sampled_from(("", "", "?", "*", "+"))).map("".join)


def _grown(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    rows = st.lists(inner, max_size=3).map("".join)
    either = st.lists(rows, min_size=1, max_size=3).map("|".join)
    return st.tuples(either.map(lambda text: f"({text})"), st.sampled_from(("", "?"))).map("".join)


expressions = st.lists(st.recursive(_repeated, _grown, max_leaves=6), max_size=4).map("".join)
expressions = expressions.filter(lambda text: len(text) <= LONGEST)
names = st.from_regex(r"\A[ab1]([ab1._-]{0,4}[ab1])?\Z")


def exactly(name: str) -> str:
    return name.replace(".", "[.]")


@given(expressions, names)
def test_an_expression_is_read_as_python_reads_it(text: str, name: str) -> None:
    matched = re.fullmatch(text, name) is not None
    assert common_name(read_pattern(text), read_pattern(exactly(name))) == (
        name if matched else None
    )


@given(expressions, names | st.text("ab1c-._ é\n*", max_size=6))
def test_an_expression_matches_what_python_says(text: str, name: str) -> None:
    """Of names that no resource can have, too: a pod may ask for anything."""
    assert Matcher(text).matches(name) == (re.fullmatch(text, name) is not None)


@pytest.mark.parametrize(
    "text",
    [
        "gpu" + "[a-z]*" * 15 + "[0-9]",
        "gpu" + "(a?)?" * 18 + "[0-9]",
        "gpu" + "(|)" * 32 + "b",
        "gpu" + ".*" * 47 + "b.",
    ],
)
def test_i5_a_name_takes_one_step_for_each_character_whatever_the_expression(text: str) -> None:
    """Tried one after the other, as Python does, the ways to match it have no end."""
    matcher = Matcher(text)
    assert not matcher.matches("gpu" + "a" * (LONGEST_NAME - 3))
    assert max(map(len, matcher.steps.values())) <= LONGEST


def test_what_is_remembered_of_an_expression_is_bounded() -> None:
    """Made deterministic as names come, it would have 2**19 states."""
    text = "[ab]*a" + "[ab]" * 18
    matcher = Matcher(text)
    for number in range(2_000):
        name = f"{number * 997:030b}".replace("0", "a").replace("1", "b")
        assert matcher.matches(name) == (re.fullmatch(text, name) is not None)
        if number % 50 == 0:
            assert max(containers(matcher).values()) <= 1024


@given(expressions, expressions, st.lists(names))
def test_what_two_have_in_common_is_found_and_nothing_else(
    one: str, other: str, tried: list[str]
) -> None:
    found = common_name(read_pattern(one), read_pattern(other))
    turned = common_name(read_pattern(other), read_pattern(one))
    assert (found is None) == (turned is None)
    for name in (found, turned):
        if name is not None:
            assert re.fullmatch(one, name)
            assert re.fullmatch(other, name)
            assert len(name) == len(found or "")
    for name in tried:
        if re.fullmatch(one, name) and re.fullmatch(other, name):
            assert found is not None
            assert len(found) <= len(name)


@pytest.mark.parametrize(
    ("one", "other", "found"),
    [
        ("a.", "[a-z][.-]", None),  # a name ends with a letter or digit
        (".a", "[._]a", None),  # and begins with one
        ("a.b", ".+", "a.b"),
        ("a+", "a" * LONGEST_NAME, "a" * LONGEST_NAME),
        ("a+", "a" * (LONGEST_NAME + 1), None),  # longer than a name can be
        ("", "a*", None),
    ],
)
def test_only_names_that_a_resource_can_have_count(one: str, other: str, found: str | None) -> None:
    assert common_name(read_pattern(one), read_pattern(other)) == found


def test_the_steps_are_bounded_by_both_lengths() -> None:
    """Made deterministic, the first has 2**19 states."""
    one = read_pattern("[ab]*a" + "[ab]" * 18)
    other = read_pattern("b" * 20 + "[ab]*")
    assert common_name(one, other) == "b" * 20 + "a" + "a" * 18
    most = len(one.steps) * len(other.steps) * 2
    assert most < 50_000


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("a{2}", "character 2 <{> has no place here"),
        ("(?=a)", "character 2 <?> has no place here"),
        ("*a", "character 1 <*> has no place here"),
        ("a++", "character 3 <+> repeats what is repeated"),
        ("(a)*", "character 4 <*> repeats a group"),
        ("a)", "character 2 <)> is unexpected"),
        ("(a", "the end is missing: )"),
        ("[a", "the end is missing: the end of a class"),
        ("[]", "the end is an empty class"),
        ("[]a]", "character 3 <a> is an empty class"),
        ("[^a]", "character 2 <^> has no place in a class"),
        ("[b-a]", "character 4 <a> ends no range"),
        ("[.-a]", "character 4 <a> ends no range"),
        ("[a-c-e]", "character 5 <-> is neither the first nor the last of its class"),
        ("é", "character 1 <é> has no place here"),
        ("a" * (LONGEST + 1), "it has more than 100 characters"),
    ],
)
def test_what_is_outside_the_syntax_is_said(text: str, said: str) -> None:
    with pytest.raises(PatternError) as refused:
        read_pattern(text)
    assert str(refused.value).startswith(said)

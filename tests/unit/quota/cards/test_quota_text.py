"""Q4: a quota that cannot be read is refused, with words for the user who wrote it."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from builders import H200, H800
from cardquota.quota import LARGEST
from cardquota.quota.cards import NO_SURGE, QuotaTextError, read_quota, read_request, read_surge


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("{'A': 1}", "not JSON"),
        ('\ufeff{"A": 1}', "not JSON"),
        ('{"A": 01}', "not JSON"),
        ("true", "true or false"),
        ('{"A": null}', "<A> is null"),
        ('{"A": [1]}', "<A> is a list"),
        ('{"A": 1e400}', "not a whole number"),
        ('{"A": -Infinity}', "<-Infinity> is not"),
        ('{"A": -' + "9" * 4_000 + "}", "at least 0"),
        ('{"A": ' + "9" * 4_000 + "}", "more than can be counted"),
        ('{"A": ' + "9" * 5_000 + "}", "far too long"),
        ('{"A": 9223372036854775808}', "more than can be counted"),
        ('{"memory": 3}', "spec.capability"),
        ('{"A\\u0000": 1}', "control characters"),
        ('{"A\\ud800": 1}', "control characters"),
        ('{"' + "A" * 300 + '": 1}', "more than 256"),
        (json.dumps({f"card-{i}": 1 for i in range(5_000)}), "KiB"),
        (json.dumps({f"c{i}": 1 for i in range(1_001)}), "1001 rows"),
        ('{"A": "' + "x" * 250 * 1024 + '"}', "longer than 64 KiB"),
        ('{"A": "' + "é" * 40 * 1024 + '"}', "longer than 64 KiB"),
        ("[" * 60_000, "nested too deep"),
        ('{"A":' * 10_000, "nested too deep"),
    ],
)
def test_q4_what_is_no_quota_is_refused_in_short_words(text: str, why: str) -> None:
    with pytest.raises(QuotaTextError) as caught:
        read_quota(text)
    assert why in str(caught.value)
    assert len(str(caught.value)) < 250


def test_a_groups_request_may_name_alternatives() -> None:
    assert read_request('{"NVIDIA-H200 | NVIDIA-H800": 2, "NVIDIA-H200": 1}') == {
        (H200, H800): 2,
        (H200,): 1,
    }


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ('{"A": 0}', "at least 1"),
        ('{"A||B": 1}', "empty alternative"),
        ('{"A|B": 1, "A | B": 2}', "twice"),
        ("[]", "a list"),
        ('{"A": 9007199254740993}', "more than can be counted"),
    ],
)
def test_a_groups_request_that_cannot_be_read_is_refused(text: str, why: str) -> None:
    with pytest.raises(QuotaTextError, match=why.replace("|", r"\|")):
        read_request(text)


@given(
    st.text()
    | st.recursive(
        st.none() | st.integers() | st.floats() | st.text(),
        lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    ).map(json.dumps)
)
def test_q4_any_text_is_read_or_refused(text: str) -> None:
    try:
        rows = read_quota(text)
    except QuotaTextError:
        return
    assert all(type(n) is int and n >= 0 for n in rows.values())


@given(
    st.dictionaries(
        st.from_regex(r"[A-Za-z0-9/*.-]{1,60}", fullmatch=True), st.integers(0, 2**63 - 1)
    )
)
def test_q4_what_is_written_is_read_back(rows: dict[str, int]) -> None:
    assert read_quota(json.dumps(rows)) == rows


# --- what rolling updates may borrow ----


def test_r6_a_number_is_meant_of_each_card() -> None:
    surge = read_surge(" 2\n")
    assert (surge.of(H200), surge.of(H800)) == (2, 2)
    assert surge
    assert not read_surge("0")
    assert not NO_SURGE


def test_r6_an_object_says_it_by_card() -> None:
    surge = read_surge(f'{{"{H200}": 1, "{H800}": 0}}')
    assert (surge.of(H200), surge.of(H800)) == (1, 0)
    assert not read_surge("{}")
    assert not read_surge(f'{{"{H800}": 0}}')


NEITHER = "it is neither a whole number nor a JSON object"


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        *((text, NEITHER) for text in ("", "-1", "1.5", "1e3", "null", "[]", '"1"', "true")),
        *((text, NEITHER) for text in ("\u0661", "1" * 33, " " * 70_000 + "1", "[" * 9_000)),
        (str(LARGEST + 1), "it is more than can be counted"),
        ('{"A": 1, "A": 1}', "the card <A> stands there twice"),
        ('{"A": -1}', "at least 0 is needed"),
        ('{"A|B": 1}', "is a choice of cards"),
        ('{"A": "1"}', "a string, not a whole number"),
    ],
)
def test_r6_what_is_wrong_with_any_other_is_said(text: str, problem: str) -> None:
    with pytest.raises(QuotaTextError, match=problem):
        read_surge(text)

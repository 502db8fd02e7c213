"""What audit mode would have refused: counts that replicas share, of one day."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cardquota.quota import Effect
from cardquota.quota.reports.audit_counts import (
    MOST_ROWS,
    OTHERS,
    Audited,
    Counts,
    counted,
    decoded,
    hour_of,
    merged,
    of_the_day,
    too_old,
)

HOUR = 3600.0
NOW = 1_800_000_000.0
A = Audited("research", "lab", Effect.DENY)
rows = st.builds(
    Audited,
    st.sampled_from(("", "research", "vision")),
    st.sampled_from(("lab", "web")),
    st.sampled_from((Effect.DENY, Effect.GATE)),
)


@given(st.lists(st.tuples(rows, st.integers(1, 9))), st.randoms(use_true_random=False))
def test_no_count_is_lost_in_whatever_parts_and_order_they_are_written(
    found: list[tuple[Audited, int]], chance: object
) -> None:
    """Section 2."""
    plain: dict[Audited, int] = {}
    text = ""
    for row, number in found:
        plain[row] = plain.get(row, 0) + number
        text = merged(text, Counts({row: number}))
    assert dict(decoded(text)) == plain


def test_a_day_counts_and_what_is_older_goes() -> None:
    stored = {hour_of(NOW - n * HOUR): merged("", Counts({A: 1})) for n in range(30)}
    assert of_the_day(stored, NOW) == {A: 24}
    assert too_old(stored, NOW) == sorted(hour_of(NOW - n * HOUR) for n in range(24, 30))
    assert too_old({"config.yaml": ""}, NOW) == ["config.yaml"]


def test_beyond_the_bound_the_others_are_counted_together() -> None:
    counts = Counts()
    for number in range(3 * MOST_ROWS):
        counted(counts, Audited(f"q{number}", "lab", Effect.DENY))
    assert sum(counts.values()) == 3 * MOST_ROWS
    assert len(counts) == MOST_ROWS + 1
    assert counts[Audited(OTHERS, OTHERS, Effect.DENY)] == 2 * MOST_ROWS
    text = merged(merged("", counts), counts)
    assert decoded(text)[Audited(OTHERS, OTHERS, Effect.DENY)] == 4 * MOST_ROWS


def test_a_day_of_the_longest_names_fits_into_one_object() -> None:
    counts = Counts()
    for number in range(2 * MOST_ROWS):
        queue, namespace = f"{number:03}" + "q" * 250, f"{number:03}" + "n" * 60
        counted(counts, Audited(queue, namespace, Effect.DENY), 10**9)
    assert 24 * len(merged("", counts)) < 1_000_000


@pytest.mark.parametrize(
    "text",
    [
        "",
        "x",
        "[]",
        "[1]",
        '[["a","b","deny","1"]]',
        '[["a","b","nonsense",1]]',
        "[" * 9_999,
        "{}",
        '[["a","b","deny",1' + "0" * 4_299 + "]]",
    ],
)
def test_what_others_wrote_counts_as_nothing(text: str) -> None:
    assert decoded(text) == {}
    assert decoded(merged(text, Counts({A: 2}))) == {A: 2}


def test_it_is_plain_rows() -> None:
    assert json.loads(merged("", Counts({A: 2}))) == [["research", "lab", "deny", 2]]

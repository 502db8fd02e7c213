"""A timeline in columns: exact, however many columns there are."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cardquota.cli.simulate.timeline.time_columns import TimeColumns
from cardquota.cli.simulate.timeline.utilisation import HeldInterval, WaitingInterval

MOMENTS = st.integers(0, 50)
SPANS = st.lists(st.tuples(MOMENTS, MOMENTS).map(sorted), max_size=8)


@given(SPANS, st.integers(1, 12))
def test_like_second_by_second(spans: list[list[int]], most: int) -> None:
    columns = TimeColumns(50, most)
    held = columns.held(HeldInterval(begin, end, "a", 2) for begin, end in spans)
    waiting = columns.most_waiting([WaitingInterval(begin, end) for begin, end in spans])
    at = 0
    for i, width in enumerate(columns.widths):
        counts = [sum(b <= second < e for b, e in spans) for second in range(at, at + width)]
        assert (held[i], waiting[i]) == (2 * sum(counts), max(counts))
        at += width
    assert at == 50


@pytest.mark.parametrize(("seconds", "number"), [(0, 1), (1, 1), (3, 3), (10**9, 4)])
def test_no_column_is_empty(seconds: int, number: int) -> None:
    columns = TimeColumns(seconds, 4)
    assert columns.number == len(columns.widths) == number
    assert min(columns.widths) >= 1

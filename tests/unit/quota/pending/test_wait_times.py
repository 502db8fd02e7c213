"""T7: since when pods wait, kept in order while they come and go."""

from statistics import median_low

from hypothesis import given
from hypothesis import strategies as st

from cardquota.quota import time_text
from cardquota.quota.pending import WaitTimes

SECONDS = st.integers(0, 40)


@given(st.lists(st.tuples(st.booleans(), SECONDS)))
def test_t7_it_is_what_a_recount_finds(events: list[tuple[bool, int]]) -> None:
    waits, there = WaitTimes(), list[int]()
    for comes, second in events:
        if comes:
            there.append(second)
            waits.add(time_text(second))
        elif there:
            waits.discard(time_text(there.pop(second % len(there))))
        assert len(waits) == len(there)
        assert waits.oldest == (time_text(min(there)) if there else None)
        assert waits.median == (time_text(median_low(there)) if there else None)

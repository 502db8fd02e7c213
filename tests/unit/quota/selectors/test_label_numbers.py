"""Numbers under a label are found as if each node were asked, and are kept in order (P8)."""

from functools import partial

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cardquota.quota.selectors import label_numbers
from cardquota.quota.selectors.label_numbers import LabelNumbers
from cardquota.quota.selectors.number_comparison import compares

from ...containers import containers
from ...steps import steps_of

_VALUES = st.sampled_from(("-3", "007", "7", "x", "")) | st.integers(-9, 30).map(str)


@given(
    st.lists(_VALUES, min_size=1, max_size=12),
    st.lists(st.tuples(st.integers(0, 11), _VALUES), max_size=20),
    st.lists(st.tuples(st.sampled_from(("Gt", "Lt")), st.integers(-10, 31)), min_size=1),
)
@pytest.mark.parametrize("block", [1, 2, 64])
def test_who_is_above_and_below_also_after_changes(
    block: int, has: list[str], changes: list[tuple[int, str]], asked: list[tuple[str, int]]
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(label_numbers, "BLOCK", block)
        numbers = LabelNumbers()
        for place, value in enumerate(has):
            numbers.put("key", value, 1 << place)
        for number, value in [(0, has[0]), *changes]:
            place = number % len(has)
            numbers.take("key", has[place], 1 << place)
            has[place] = value
            numbers.put("key", value, 1 << place)
            for operator, bound in asked:
                found = numbers.compared("key", operator, bound)
                wanted = [n for n, shown in enumerate(has) if compares(operator, shown, str(bound))]
                assert [n for n in range(len(has)) if found & (1 << n)] == wanted
        for place, value in enumerate(has):
            numbers.take("key", value, 1 << place)
        assert not any(containers(numbers).values())


def of(*numbers: int) -> LabelNumbers:
    found = LabelNumbers()
    for number in numbers:
        found.put("key", str(number), 1 << number)
    return found


@pytest.mark.parametrize("bound", [-1, 0, 63, 64, 65, 127, 128, 500, 998, 999, 1_000])
@pytest.mark.parametrize("order", [range(1_000), range(999, -1, -1)])
def test_of_many_blocks(bound: int, order: range) -> None:
    numbers, every = of(*order), 1 << 1_000
    assert numbers.compared("key", "Lt", bound) == (1 << max(0, bound)) - 1
    assert numbers.compared("key", "Gt", bound) == every - (1 << min(bound + 1, 1_000))


def test_of_a_label_that_nobody_has() -> None:
    assert of(1, 2).compared("other", "Gt", 0) == 0


def test_p8_neither_a_comparison_nor_a_change_costs_what_is_there() -> None:
    few, many = of(*range(100)), of(*range(5_000))
    for numbers in (few, many):
        assert steps_of(partial(numbers.compared, "key", "Gt", 70)) < 20
        assert steps_of(partial(numbers.put, "key", "6000", 1 << 6_000)) < 30
        assert steps_of(partial(numbers.take, "key", "70", 1 << 70)) < 30
    assert many.work < 300

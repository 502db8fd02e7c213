"""W1: one card is shared by weight, in rounds."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cardquota.quota.ledger import ProgressiveFilling, WeightedDemand

from ..plain_rounds import PlainSharer, rounds, whole

W = WeightedDemand


NAMES = "abcdef"
amounts = st.integers(0, 12) | st.sampled_from((0, 2**63 - 1))
one = st.builds(
    WeightedDemand,
    weight=st.integers(1, 4) | st.sampled_from((65_534, 65_535)),
    cap=amounts,
    guarantee=st.just(0) | amounts,
)
several = st.dictionaries(st.sampled_from(NAMES), one)
totals = st.integers(0, 40) | amounts


@pytest.mark.parametrize(
    ("total", "demands", "expected"),
    [
        (10, {"a": W(1, 10), "b": W(1, 10), "c": W(1, 10)}, {"a": 4, "b": 3, "c": 3}),
        (600, {"a": W(400, 100), "b": W(200, 1000)}, {"a": 100, "b": 500}),
        (96, {"a": W(3, 20), "b": W(2, 50), "c": W(1, 60)}, {"a": 20, "b": 50, "c": 26}),
    ],
)
def test_w1_the_worked_examples(
    total: int, demands: dict[str, WeightedDemand], expected: dict[str, int]
) -> None:
    assert ProgressiveFilling(total, demands).whole() == expected


@given(totals, several)
def test_w1_it_is_what_the_rounds_give_one_after_the_other(
    total: int, demands: dict[str, WeightedDemand]
) -> None:
    exact = rounds(total, {name: PlainSharer(*demand) for name, demand in demands.items()})
    filling = ProgressiveFilling(total, demands)
    for name, amount in exact.items():
        numerator, denominator = filling.of(name)
        assert numerator * amount.denominator == amount.numerator * denominator
    assert filling.whole() == whole(exact, total)

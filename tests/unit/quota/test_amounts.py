"""Amounts by dimension: which of these are cards, and the form that is kept (section 1, Q2)."""

import pytest

from builders import H200, H800
from cardquota.quota import canonical, is_card


@pytest.mark.parametrize("dimension", ["NVIDIA-H200", "NVIDIA-H200/mig-1g.18gb-mixed", "CPU", ""])
def test_every_other_dimension_is_a_card(dimension: str) -> None:
    assert is_card(dimension)


def test_amounts_are_sorted_and_zeros_left_out() -> None:
    assert canonical({H800: 1, H200: 0, "cpu": 5}) == ((H800, 1), ("cpu", 5))

"""D3, D6, P5: the memory of a card as labels have it, and which values mean the same share."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cardquota.quota.cards import Card, MemoryLabel, MemoryUnit, gib_of, mib_of
from cardquota.quota.selectors import CardRequirement

KEY = "nvidia.com/gpu.memory"


def of(gib: int, *values: str, unit: MemoryUnit = MemoryUnit.MIB) -> MemoryLabel:
    return MemoryLabel(KEY, gib, unit, values)


def can_be(memory: MemoryLabel, text: str) -> bool:
    """Whether a node that shows this value may have such a share."""
    return bool(CardRequirement(KEY, "In", (text,)).allowed([Card("share", "r", (), memory)]))


@given(st.integers(1, 10**6))
def test_p5_the_range_of_a_share_holds_exactly_what_is_rounded_to_it(mib: int) -> None:
    memory = of(gib_of(mib))
    assert memory.least <= mib <= memory.most
    assert gib_of(memory.most) == gib_of(memory.least) == memory.gib
    assert gib_of(memory.most + 1) == memory.gib + 1
    assert memory.least == 1 or gib_of(memory.least - 1) == memory.gib - 1
    assert can_be(memory, str(mib))
    assert not can_be(memory, str(memory.most + 1))


@pytest.mark.parametrize("text", ["", "many", "80G", "-1", "0"])
def test_d9_what_is_no_number_of_mib_is_no_share(text: str) -> None:
    assert not can_be(of(80), text)
    assert not can_be(of(0), text)


def test_d6_a_label_with_a_unit_is_what_nodes_have_written() -> None:
    """Before any has, whatever is rounded to the name's number."""
    unknown = of(64, unit=MemoryUnit.WRITTEN)
    assert all(can_be(unknown, text) for text in ("64G", "64GiB", "65536M", "65530"))
    assert not can_be(unknown, "32G")
    seen = unknown.also(["64G"])
    assert seen.also(["64G"]) is seen
    assert seen.also(["65530M"]).values == ("64G", "65530M")
    assert (can_be(seen, "64G"), can_be(seen, "64GiB")) == (True, False)
    assert mib_of("64G", MemoryUnit.WRITTEN) == 65536

"""P5: shares of one product that differ in memory alone are told apart by node affinity."""

from cardquota.quota.cards import MemoryLabel, MemoryUnit
from cardquota.quota.selectors import memory_asked_for

KEY = "nvidia.com/gpu.memory"
SMALL = MemoryLabel(KEY, 40, MemoryUnit.MIB)
BIG = MemoryLabel(KEY, 80, MemoryUnit.MIB)
WRITTEN = MemoryLabel(KEY, 64, MemoryUnit.WRITTEN, ("64G", "65530"))


def asked(*memories: MemoryLabel | None) -> list[tuple[str, tuple[str, ...]]]:
    return [(one.operator, one.values or ()) for one in memory_asked_for(memories)]


def test_a_number_with_a_unit_is_asked_for_by_what_nodes_have_written() -> None:
    assert asked(WRITTEN) == [("In", ("64G", "65530"))]
    assert asked(MemoryLabel(KEY, 64, MemoryUnit.WRITTEN)) == []


def test_of_several_sizes_what_lies_between_is_let_pass() -> None:
    """A gated pod must not get more terms than it had."""
    assert asked(BIG, SMALL) == [("Gt", ("40447",)), ("Lt", ("82432",))]
    other = MemoryLabel(KEY, 32, MemoryUnit.WRITTEN, ("32G",))
    assert asked(WRITTEN, other) == [("In", ("64G", "65530", "32G"))]

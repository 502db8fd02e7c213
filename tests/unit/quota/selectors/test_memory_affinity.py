"""P5: shares of one product that differ in memory alone are told apart by node affinity."""

import pytest

from cardquota.quota.cards import Card, MemoryLabel, MemoryUnit
from cardquota.quota.objects import Expression, Term
from cardquota.quota.selectors import Selector, memory_asked_for

KEY = "nvidia.com/gpu.memory"
SMALL = MemoryLabel(KEY, 40, MemoryUnit.MIB)
BIG = MemoryLabel(KEY, 80, MemoryUnit.MIB)
WRITTEN = MemoryLabel(KEY, 64, MemoryUnit.WRITTEN, ("64G", "65530"))


def asked(*memories: MemoryLabel | None) -> list[tuple[str, tuple[str, ...]]]:
    return [(one.operator, one.values or ()) for one in memory_asked_for(memories)]


def leaves(operator: str, values: list[str], memory: MemoryLabel) -> bool:
    """A requirement of the label, a share of this memory."""
    asked = Expression(key=KEY, operator=operator, values=tuple(values))
    selector = Selector(terms=(Term(match_expressions=(asked,)),))
    return selector.allows(Card("share", "nvidia.com/gpu.shared", (), memory))


def test_a_number_of_mib_is_asked_for_by_its_range() -> None:
    assert asked(BIG) == [("Gt", ("81407",)), ("Lt", ("82432",))]
    assert asked(MemoryLabel(KEY, 0, MemoryUnit.MIB)) == [("Gt", ("0",)), ("Lt", ("512",))]


def test_a_number_with_a_unit_is_asked_for_by_what_nodes_have_written() -> None:
    assert asked(WRITTEN) == [("In", ("64G", "65530"))]
    assert asked(MemoryLabel(KEY, 64, MemoryUnit.WRITTEN)) == []


def test_of_several_sizes_what_lies_between_is_let_pass() -> None:
    """A gated pod must not get more terms than it had."""
    assert asked(BIG, SMALL) == [("Gt", ("40447",)), ("Lt", ("82432",))]
    other = MemoryLabel(KEY, 32, MemoryUnit.WRITTEN, ("32G",))
    assert asked(WRITTEN, other) == [("In", ("64G", "65530", "32G"))]


def test_where_a_card_has_no_size_or_another_label_nothing_is_asked() -> None:
    assert asked(BIG, None) == []
    assert asked(None) == []
    assert asked(BIG, MemoryLabel("other", 80, MemoryUnit.MIB)) == []
    assert asked(WRITTEN, MemoryLabel(KEY, 32, MemoryUnit.WRITTEN)) == []


@pytest.mark.parametrize(
    ("operator", "values", "mib", "written"),
    [
        ("NotIn", ["81559"], True, True),
        ("NotIn", [str(mib) for mib in range(81408, 82432)], False, True),
        ("NotIn", [str(mib) for mib in range(81408, 82431)], True, True),
        ("NotIn", ["64G", "65530"], True, False),
        ("Exists", [], True, True),
        ("DoesNotExist", [], False, False),
        ("Gt", ["82430"], True, False),
        ("Gt", ["82431"], False, False),
        ("Gt", ["65529"], True, True),
        ("Lt", ["81409"], True, True),
        ("Lt", ["81408"], False, True),
        ("Lt", ["65530"], False, False),
        ("Lt", ["many"], False, False),
        ("Gt", [], False, False),
        ("Gt", ["1", "2"], False, False),
        ("Gt", ["1_000"], False, False),
        ("Gt", [" 5 "], False, False),
        ("Gt", ["٣"], False, False),
        ("Gt", ["+0" + "1" * 4], True, True),
        ("OfALaterKubernetes", [], True, True),
    ],
)
def test_what_a_pod_asks_of_the_label_leaves_a_share_or_not(
    operator: str, values: list[str], *, mib: bool, written: bool
) -> None:
    assert leaves(operator, values, BIG) is mib
    assert leaves(operator, values, WRITTEN) is written


def test_of_what_no_node_has_written_yet_every_number_is_possible() -> None:
    unknown = MemoryLabel(KEY, 64, MemoryUnit.WRITTEN)
    assert leaves("Gt", ["1"], unknown)

"""Which workloads hold most of a card, whatever changed before."""

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cardquota.quota.pods import CardHolders, queue_users

CHANGES = st.lists(
    st.one_of(
        st.tuples(st.integers(0, 11), st.integers(-3, 5)),
        st.just(None),
    ),
    max_size=80,
)


@given(CHANGES)
def test_after_any_changes_the_first_are_those_that_hold_most(
    changes: list[tuple[int, int] | None],
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(queue_users, "RANKED", 6)
        patch.setattr(queue_users, "_UNRANKED", 3)
        many = [(name, 1 + name % 3) for name in range(12)]
        _compare([*many, None, *changes])


def _compare(changes: list[tuple[int, int] | None]) -> None:
    """None: somebody asks."""
    found, plain = CardHolders(), Counter[str]()
    for change in (*changes, None):
        if change is not None:
            name, amount = f"w{change[0]}", change[1]
            amount = max(amount, -plain[name])
            found.add(name, amount)
            plain[name] += amount
            continue
        held = +plain
        assert found.amounts == held
        assert (found.total, len(found)) == (held.total(), len(held))
        for number in (0, 1, 3, 20):
            first = found.most(number)
            assert [n for _, n in first] == sorted(held.values(), reverse=True)[:number]
            assert all(held[workload] == n for workload, n in first)
            assert len(dict(first)) == len(first)


def test_an_order_is_kept_of_many_alone() -> None:
    """Of thousands the first three are found without looking at all of them."""
    found = CardHolders()
    assert found.most(3) == []
    for number in range(5_000):
        found.add(f"w{number}", 1 + number % 8)
    assert {n for _, n in found.most(3)} == {8}
    assert len(found.most(9_000)) == 5_000
    found.add("w0", 45)
    found.add("w0", 45)
    assert found.most(2) == [("w0", 91), ("w7", 8)]
    for number in range(1, 5_000):
        found.add(f"w{number}", -(1 + number % 8))
    assert found.most(3) == [("w0", 91)]

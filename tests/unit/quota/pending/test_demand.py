"""The next for whom there is room is the one that a plain look at all of them would find."""

from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cardquota.quota.pending import Demand, InadmissibleClass, Readiness, ReleaseKey, Shortage
from cardquota.quota.pending import demand as module

NUMBERS = st.integers(0, 40)
CHANGES = st.lists(st.tuples(NUMBERS, st.integers(-5, 5)), max_size=120)


def place(number: int) -> ReleaseKey:
    created = f"{number % 7}"
    uid = f"uid-{number:05}"
    return ReleaseKey(Readiness.NOT_BEGUN, number // 7, 0, created, "", created, "", uid)


class PlainDemand:
    """The same, one after the other."""

    def __init__(self) -> None:
        self.entries: dict[ReleaseKey, tuple[int, InadmissibleClass]] = {}

    def first(
        self, room: int, after: ReleaseKey | None
    ) -> tuple[ReleaseKey, InadmissibleClass] | None:
        for one, (need, inadmissible) in sorted(self.entries.items()):
            if need <= room and (after is None or one > after):
                return one, inadmissible
        return None


@pytest.mark.parametrize("most", [2, 3, 8, 512])
@given(changes=CHANGES, asked=st.lists(st.tuples(st.integers(-6, 6), NUMBERS), max_size=8))
@settings(max_examples=60)
def test_e6_the_first_after_a_place_that_needs_no_more_is_found(
    most: int, changes: list[tuple[int, int]], asked: list[tuple[int, int]]
) -> None:
    """Those who come and go are alike in nothing; who comes a second time goes."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "MOST", most)
        demand, plain = Demand(), PlainDemand()
        for number, need in changes:
            at = place(number)
            if at in plain.entries:
                demand.take(at)
                del plain.entries[at]
            else:
                inadmissible = InadmissibleClass(number, frozenset(), Shortage({}))
                demand.put(at, need, inadmissible)
                plain.entries[at] = need, inadmissible
            assert bool(demand) == bool(plain.entries)
        for room, number in asked:
            assert demand.first(room, place(number)) == plain.first(room, place(number))
            assert demand.first(room, None) == plain.first(room, None)


@pytest.mark.parametrize("back", [False, True])
def test_blocks_stay_few_whoever_goes(back: bool) -> None:
    """Of thousands that came, and of the few that are left of them."""
    demand, inadmissible = Demand(), InadmissibleClass("", frozenset(), Shortage({}))
    places = [place(number) for number in range(5_000)]
    for at in reversed(places) if back else places:
        demand.put(at, 1, inadmissible)
    _blocks_are_full(demand)
    for at in places[::3] + places[1::3]:
        demand.take(at)
    _blocks_are_full(demand)
    for at in places[2:-3:3]:
        demand.take(at)
    assert len(demand.blocks) == 1


def _blocks_are_full(demand: Demand) -> None:
    sizes = demand.blocks
    assert all(0 < size <= module.MOST for size in sizes)
    assert all(one + other > module.MOST // 2 for one, other in pairwise(sizes))

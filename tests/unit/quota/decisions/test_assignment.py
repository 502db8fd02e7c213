"""T3, E7: a card for each member, in plain numbers; held against trying every way."""

from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cardquota.quota.decisions import MemberKind, assigned, decided, most_assigned, never_fits
from unit.steps import steps_of

from ..brute_force import Want, can_be_served

A, B, C, D = "A", "B", "C", "D"
CARDS = (A, B, C)

rooms = st.fixed_dictionaries({card: st.integers(-1, 5) for card in CARDS})
quotas = st.fixed_dictionaries({card: st.integers(0, 5) for card in CARDS})
some_cards = st.lists(st.sampled_from(CARDS), min_size=1, max_size=3, unique=True).map(tuple)


def kinds_of(amounts: st.SearchStrategy[int]) -> st.SearchStrategy[list[MemberKind]]:
    one = st.builds(MemberKind, some_cards, amounts, st.integers(1, 3))
    return st.lists(one, min_size=1, max_size=3)


def wants_of(kinds: list[MemberKind]) -> list[Want]:
    return [(kind.cards, kind.amount) for kind in kinds for _ in range(kind.number)]


def is_within(room: dict[str, int], kinds: list[MemberKind], found: list[Counter[str]]) -> bool:
    taken = Counter[str]()
    for kind, given_ in zip(kinds, found, strict=True):
        assert set(+given_) <= set(kind.cards)
        assert given_.total() <= kind.number
        for card, number in given_.items():
            taken[card] += number * kind.amount
    return all(taken[card] <= room[card] for card in +taken)


def everywhere(*_: object) -> bool:
    return True


@settings(max_examples=500)
@given(rooms, st.sampled_from((1, 2)).flatmap(lambda amount: kinds_of(st.just(amount))))
def test_t3_of_equal_amounts_it_is_exact(room: dict[str, int], kinds: list[MemberKind]) -> None:
    found = assigned(room, kinds)
    assert (found is not None) == can_be_served(room, wants_of(kinds))
    assert found is None or is_within(room, kinds, found)
    assert (decided(room, kinds, everywhere) is None) == (found is None)


@settings(max_examples=500)
@given(quotas, kinds_of(st.integers(1, 3)))
def test_e5_never_is_said_only_of_what_can_never_fit(
    room: dict[str, int], kinds: list[MemberKind]
) -> None:
    if never_fits(room, kinds):
        assert not can_be_served(room, wants_of(kinds))


@settings(max_examples=300)
@given(rooms, kinds_of(st.just(1)))
def test_as_many_as_can_be_served_are(room: dict[str, int], kinds: list[MemberKind]) -> None:
    found = sum(given_.total() for given_ in most_assigned(room, kinds))
    wants = wants_of(kinds)
    chosen = [
        [want for place, want in enumerate(wants) if picked >> place & 1]
        for picked in range(2 ** len(wants))
    ]
    assert found == max(len(some) for some in chosen if can_be_served(room, some))


def test_e5_the_decided_limits_of_unequal_amounts() -> None:
    """Who has fewer cards goes first, and moves for nobody who asks for another amount."""
    unequal = [MemberKind((A, B), 2, 2), MemberKind((A, B), 3, 2)]
    assert assigned({A: 5, B: 5}, unequal) == [{A: 1, B: 1}, {A: 1, B: 1}]
    first = [MemberKind((A, B), 1, 3), MemberKind((A, C, B), 2, 1)]
    room = {A: 4, B: 1, C: 0}
    assert can_be_served(room, wants_of(first))
    assert assigned(room, first) is None
    assert not never_fits(room, first)


@pytest.mark.parametrize(
    ("kinds", "never"),
    [
        ([MemberKind((A, B), 3, 2), MemberKind((A, B), 4, 1)], False),
        ([MemberKind((A, B), 3, 2), MemberKind((A, B), 5, 1)], True),
        ([MemberKind((A, B), 6, 1), MemberKind((A, B), 1, 1)], True),
        ([MemberKind((A, B), 1, 1), MemberKind((A, C), 2, 1), MemberKind((C,), 1, 1)], True),
    ],
    ids=["what no search has found", "in sum", "by one of them", "of a card that is not there"],
)
def test_e5_unequal_amounts_are_judged_by_sums(kinds: list[MemberKind], never: bool) -> None:
    assert never_fits({A: 5, B: 5}, kinds) is never


def test_i5_it_costs_by_kinds_and_cards() -> None:
    cards = tuple(f"C{n}" for n in range(16))
    kinds = [MemberKind(cards[n:] + cards[:n], 1, 10_000) for n in range(16)]
    room = dict.fromkeys(cards, 10_000)
    assert steps_of(lambda: assigned(room, kinds)) < 20_000
    assert steps_of(lambda: assigned(room | {D: 1, cards[0]: 9_999}, kinds)) < 20_000

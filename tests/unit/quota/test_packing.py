"""T3, unequal amounts: a place for every claim, or none found."""

import pytest

from cardquota.quota import packing
from cardquota.quota.claim import Claim, claim_of
from cardquota.quota.packing import pack


def one(cards: str, amount: int) -> Claim:
    return claim_of(tuple(cards.split("|")), amount)


def test_claims_of_one_kind_may_go_to_several_cards() -> None:
    assert pack({one("A|B", 2): 3}, {"A": 5, "B": 2}) == {
        (one("A|B", 2), "A"): 2,
        (one("A|B", 2), "B"): 1,
    }


def test_large_ones_leave_room_for_small_ones() -> None:
    claims = {one("A|B", 3): 1, one("A", 2): 1, one("A|B", 1): 1}
    assert pack(claims, {"A": 3, "B": 3}) == {
        (one("A|B", 3), "B"): 1,
        (one("A", 2), "A"): 1,
        (one("A|B", 1), "A"): 1,
    }


def test_nothing_is_split() -> None:
    assert pack({one("A|B", 2): 3}, {"A": 3, "B": 3}) is None


def test_a_claim_without_a_card_of_these_has_no_place() -> None:
    assert pack({one("C", 1): 1}, {"A": 5}) is None


def test_a_search_ends_whatever_it_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is not found in so many steps waits: never the reverse."""
    claims, room = {one("A|B", 3): 2, one("A|B", 2): 2}, {"A": 5, "B": 5}
    assert pack(claims, room) is not None
    monkeypatch.setattr(packing, "MOST_STEPS", 2)
    assert pack(claims, room) is None


def test_more_kinds_of_claims_than_a_search_goes_deep_are_not_searched() -> None:
    kinds = {one(f"C{n:03}|C{n + 1:03}", 1): 1 for n in range(packing.MOST_BRANCHES // 2 + 1)}
    room = {f"C{n:03}": 1 for n in range(packing.MOST_BRANCHES)}
    assert pack(kinds, room) is None
    kinds.popitem()
    assert pack(kinds, room) is not None

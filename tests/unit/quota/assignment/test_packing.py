"""T3, unequal amounts: a place for every claim, or none found."""

import time

from cardquota.quota.assignment import (
    CARDS_A_STEP,
    MOST_BRANCHES,
    MOST_STEPS,
    Claim,
    Places,
    Steps,
    claim_of,
    packing,
)


def pack(claims: dict[Claim, int], room: dict[str, int], steps: int = MOST_STEPS) -> Places | None:
    return packing.pack(claims, room, Steps(steps))


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


def test_a_search_ends_whatever_it_is_asked() -> None:
    """What is not found in so many steps waits: never the reverse."""
    claims, room = {one("A|B", 3): 2, one("A|B", 2): 2}, {"A": 5, "B": 5}
    assert pack(claims, room) is not None
    assert pack(claims, room, steps=2) is None


def test_several_searches_for_one_answer_have_one_bound() -> None:
    claims, room = {one("A|B", 3): 2, one("A|B", 2): 2}, {"A": 5, "B": 5}
    steps = Steps(8)
    assert [packing.pack(claims, room, steps) is None for _ in range(3)] == [False, True, True]
    steps.begin()
    assert packing.pack(claims, room, steps) is not None


def steps_for(cards: int) -> int:
    """How many it takes to place as many claims as there are cards."""
    names = [f"C{n:03}" for n in range(cards)]
    steps = Steps(MOST_STEPS)
    assert packing.pack({claim_of(tuple(names), 1): cards}, dict.fromkeys(names, 1), steps)
    return MOST_STEPS - steps.left


def test_what_looks_at_many_cards_takes_more_steps() -> None:
    """One to begin with what a claim may use, and one for each of its cards in turn."""
    assert steps_for(4) == 1 + 4
    assert steps_for(200) == 1 + 400 // CARDS_A_STEP + 200


def test_what_was_not_looked_for_to_its_end_is_known_to_be_cut_short() -> None:
    full, tight = {one("A|B", 2): 3}, {one("A|B", 3): 2, one("A|B", 2): 2}
    kinds = {one(f"C{n:03}|C{n + 1:03}", 1): 1 for n in range(MOST_BRANCHES)}
    rooms = dict.fromkeys([f"C{n:03}" for n in range(MOST_BRANCHES + 1)], 1)
    steps = Steps(MOST_STEPS)
    assert (packing.pack(full, {"A": 3, "B": 3}, steps), steps.cut) == (None, False)
    assert (packing.pack(kinds, rooms, steps), steps.cut) == (None, True)
    steps = Steps(2)
    assert (packing.pack(tight, {"A": 5, "B": 5}, steps), steps.cut) == (None, True)
    steps.begin()
    assert not steps.cut


def test_a_search_that_is_over_tries_nothing_more() -> None:
    """However many equal claims each kind has."""
    claims = {one("A|B|C", amount): 10**6 for amount in (3, 5, 7, 11)}
    room = dict.fromkeys("ABC", 8_666_666)
    begun = time.process_time()
    assert pack(claims, room) is None
    assert time.process_time() - begun < 10, "every one would be hours"


def test_more_kinds_of_claims_than_a_search_goes_deep_are_not_searched() -> None:
    kinds = {one(f"C{n:03}|C{n + 1:03}", 1): 1 for n in range(MOST_BRANCHES // 2 + 1)}
    room = {f"C{n:03}": 1 for n in range(MOST_BRANCHES)}
    assert pack(kinds, room) is None
    kinds.popitem()
    assert pack(kinds, room) is not None

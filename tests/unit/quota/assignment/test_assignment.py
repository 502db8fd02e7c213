"""T3: there is room for a set of claims only if an assignment of every claim exists."""

import random

import pytest

from cardquota.quota.assignment import CARDS_A_STEP, MANY, Assignment, Claim, assignment, claim_of

from ..brute_force import fits

Rooms = dict[str, int]


def an_assignment(room: Rooms, *claims: Claim) -> Assignment:
    found = Assignment(lambda card: room.get(card, 0))
    for claim in claims:
        found.add(claim)
    return found


def one(cards: str, amount: int = 1) -> Claim:
    """`A|B`: one claim."""
    return claim_of(tuple(cards.split("|")), amount)


def take_in(found: Assignment, claim: Claim) -> bool:
    """Ask whether it fits, and if it does, keep it."""
    if not found.place(claim):
        return False
    found.give_back(claim)
    found.add(claim)
    found.settle()
    return True


def standing(assignment: Assignment) -> dict[str, int]:
    return {card: assignment.held(card) for card in "ABCDE" if assignment.held(card)}


def test_a_claim_takes_a_card_that_has_room() -> None:
    room = {"A": 0, "B": 2}
    found = an_assignment(room)
    assert found.place(one("A|B", 2))
    assert standing(found) == {"B": 2}
    assert not found.place(one("A|B"))
    assert standing(found) == {"B": 2}


def test_t3_never_any_of() -> None:
    """Each of the two finds room by itself, but not both."""
    found = an_assignment({"A": 1, "B": 0}, one("A|B"))
    assert not found.place(one("A|B"))


def test_t3_never_sum_of() -> None:
    """Two cards are free in sum, but one pod needs both of one model."""
    assert not an_assignment({"A": 1, "B": 1}).place(one("A|B", 2))


def test_t3_others_move_to_make_room() -> None:
    found = an_assignment({"A": 1, "B": 1, "C": 1}, one("A|B"), one("B|C"))
    assert found.place(one("A"))
    assert standing(found) == {"A": 1, "B": 1, "C": 1}
    assert not found.place(one("A|B|C"))


def test_t3_many_small_ones_move_for_a_large_one() -> None:
    found = an_assignment({"A": 4, "B": 2, "C": 2}, *[one("A|B|C")] * 2, one("A|B"), one("A|C"))
    assert found.place(one("A", 4))


def test_a_claim_that_left_makes_room() -> None:
    room = {"A": 1, "B": 1}
    found = an_assignment(room, one("A|B"), one("A|B"))
    assert not found.place(one("A|B"))
    found.remove(one("A|B"))
    assert found.place(one("A"))
    found.give_back(one("A"))
    assert found.place(one("B"))


def test_q7_what_does_not_fit_any_more_closes_its_own_cards_only() -> None:
    room = {"A": 2, "B": 1, "C": 1}
    found = an_assignment(room, *[one("A|B")] * 3)
    assert found.place(one("C"))
    found.give_back(one("C"))
    room["A"] = 1
    found.settle()
    assert list(found.aside()) == [(one("A|B"), 1)]
    assert not found.place(one("B|A"))
    assert found.place(one("A|C"))
    room["A"] = 2
    found.settle()
    assert not list(found.aside())


def test_q7_less_room_than_nothing_is_no_room() -> None:
    found = an_assignment({"A": -3, "B": 2}, one("A|B"))
    assert found.place(one("A|B"))
    assert not found.place(one("A|B"))
    assert standing(found) == {"B": 2}


def test_as_many_as_fit_are_placed_at_once() -> None:
    found = an_assignment({"A": 5, "B": 3, "C": 2}, one("A|C", 2))
    assert found.place_many(one("A|B", 2), 10) == 3
    assert standing(found) == {"A": 4, "B": 2, "C": 2}
    assert found.place_many(one("A|B", 2), 10) == 0
    assert an_assignment({"A": 10**9}).place_many(one("A"), 10**8) == 10**8


def test_q7_cards_of_which_somebody_is_short_take_no_more_of_anything() -> None:
    found = an_assignment({"A": 9, "B": 1}, one("A|B", 10))
    assert found.place_many(one("A"), 5) == 0
    assert found.place_many(one("A|B"), 5) == 0


def test_one_that_moves_leaves_room_for_many() -> None:
    """A step for each that moves, not for each that comes."""
    room = {"A": 10**9, "B": 10**9}
    found = an_assignment(room, one("A|B", 10**9))
    assert found.place_many(one("A"), 10**9) == 10**9
    assert standing(found) == {"A": 10**9, "B": 10**9}


def test_claims_of_many_alternatives_move_as_well() -> None:
    cards = [f"C{n:02}" for n in range(MANY + 2)]
    room = dict.fromkeys(cards, 1)
    many = claim_of(tuple(cards), 1)
    found = an_assignment(room, *[many] * (MANY + 1))
    for card in cards:
        assert found.place(Claim((card,), 1))
        found.give_back(Claim((card,), 1))
    found.add(many)
    assert not any(found.place(Claim((card,), 1)) for card in cards)
    found.remove(many)
    assert max(len(found.reach([card])) for card in cards) == len(cards)


def test_those_of_many_alternatives_lead_to_free_room_from_wherever_they_are() -> None:
    """Of two kinds of one card; it becomes free, and each may be the one that moves there."""
    cards = [f"C{n:02}" for n in range(MANY + 2)]
    for at in range(1, len(cards)):
        room = {card: int(card != cards[0]) for card in cards}
        found = an_assignment(room, *[claim_of(tuple(cards), 1)] * (len(cards) - 1))
        found.settle()
        found.add(Claim((cards[at],), 1))
        found.settle()
        assert len(list(found.aside())) == 1
        room[cards[0]] = 1
        found.settle()
        assert not list(found.aside())


def test_what_somebody_is_short_of_can_matter_as_well() -> None:
    """Who is short of A could use B: room on B frees A."""
    found = an_assignment({"A": 1, "B": 0}, one("A|B", 2))
    found.settle()
    assert found.reach(["A"]) == {"A", "B"}


def test_all_searches_for_one_answer_have_one_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    """What was not found by then does not fit: for those who are short, and for who asks."""
    room = {"A": 5, "B": 5, "C": 7, "D": 7}
    short = [one("A|B", 4), *[one("A|B", 3)] * 2]
    others = [*[one("C|D", 3)] * 2, *[one("C|D", 2)] * 2]
    assert an_assignment(room, *short, *others).place(one("C|D", 4))
    monkeypatch.setattr(assignment, "MOST_STEPS", 1)
    found = an_assignment(room, *short, *others)
    assert not found.place(one("C|D", 4))
    assert list(found.aside()) == [(one("A|B", 3), 1)]


def test_what_a_search_would_look_at_is_part_of_its_bound() -> None:
    """Of many cards it does not begin; what was not looked for is known to be left."""
    cards = tuple(f"C{n:02}" for n in range(2 * CARDS_A_STEP))
    room = dict.fromkeys(cards, 5)
    found = Assignment(lambda card: room.get(card, 0), 4)
    with found.one_question():
        assert found.place_many(Claim(cards, 2), 2 * len(cards)) == 2 * len(cards)
        assert (found.cut, found.steps_left) == (False, 4)
        assert not found.place(Claim(cards, 3))
        assert (found.cut, found.steps_left) == (True, 0)


def test_nothing_is_looked_for_anew_while_nothing_has_changed() -> None:
    """Those who are short are many, and each question would look for all of them."""
    room, looks = {"A": 1, "B": 1}, 0

    def room_of(card: str) -> int:
        nonlocal looks
        looks += 1
        return room[card]

    found = Assignment(room_of)
    for amount in range(2, 60):
        found.add(one("A|B", amount))
    found.settle()
    looks = 0
    found.settle()
    assert looks == 2
    room["B"] = 2
    found.settle()
    assert standing(found) == {"B": 2}


def test_what_is_reached_is_whose_room_can_matter() -> None:
    found = an_assignment({"A": 1, "B": 1, "C": 1, "D": 1}, one("A|B"), one("D"))
    found.settle()
    assert found.reach(["A"]) == {"A", "B"}
    assert found.reach(["C"]) == {"C"}


@pytest.mark.parametrize("amounts", [(1,), (2,), (1, 2), (1, 2, 4), (2, 3), (1, 2, 3, 4, 5)])
def test_t3_the_same_as_brute_force(amounts: tuple[int, ...]) -> None:
    """In all, more than 10,000 small cases: each claim that comes, and each that goes."""
    chance = random.Random(repr(amounts))
    cases = 0
    while cases < 2_000:
        cards = "ABCD"[: chance.randint(2, 4)]
        room = {card: chance.randint(0, 6) for card in cards}
        found, inside = an_assignment(room), list[Claim]()
        for _ in range(12):
            if inside and chance.random() < 0.25:
                gone = inside.pop(chance.randrange(len(inside)))
                found.remove(gone)
                continue
            if len(inside) > 5:
                break
            some = chance.sample(cards, chance.randint(1, len(cards)))
            claim = claim_of(tuple(some), chance.choice(amounts))
            expected = fits(room, *inside, claim)
            assert take_in(found, claim) == expected, (room, inside, claim)
            inside += [claim] if expected else []
            cases += 1
            assert all(found.free(card) >= 0 for card in cards)
            held = sum(found.held(card) for card in cards)
            assert held == sum(claim.amount for claim in inside)


def test_t3_the_same_as_brute_force_while_room_changes() -> None:
    """Cards are bound and freed meanwhile; whatever fits together is found to."""
    chance = random.Random("room")
    for _ in range(500):
        room = {card: chance.randint(1, 4) for card in "ABC"}
        found, inside = an_assignment(room), list[Claim]()
        for _ in range(8):
            card = chance.choice("ABC")
            room[card] = max(0, room[card] + chance.choice((-1, 1)))
            found.settle()
            left_out = [claim for claim, number in found.aside() for _ in range(number)]
            assert bool(left_out) != fits(room, *inside), (room, inside)
            for claim in left_out:
                found.remove(claim)
                inside.remove(claim)
            some = chance.sample("ABC", chance.randint(1, 3))
            claim = claim_of(tuple(some), chance.choice((1, 2)))
            expected = fits(room, *inside, claim)
            assert take_in(found, claim) == expected
            inside += [claim] if expected else []


def a_world(dice: random.Random, most: int) -> tuple[Rooms, list[tuple[Claim, int]]]:
    """Some room, and kinds of claims of unlike amounts that want it, each several times."""
    cards = "ABCD"[: dice.randint(2, 4)]
    room = {card: dice.randint(0, most) for card in cards}
    kinds = []
    for _ in range(dice.randint(1, 4)):
        some = tuple(sorted(dice.sample(cards, dice.randint(1, len(cards)))))
        kinds.append((Claim(some, dice.choice((1, 2, 3, 5))), dice.randint(1, 6)))
    return room, kinds


@pytest.mark.parametrize("block", range(20))
def test_t3_as_many_fit_at_once_as_one_after_the_other(block: int) -> None:
    """Whatever moves at once: the same number finds a place, and everybody keeps one."""
    for seed in range(100 * block, 100 * (block + 1)):
        room, kinds = a_world(random.Random(seed), 14)
        at_once, by_ones = an_assignment(room), an_assignment(room)
        for claim, number in kinds:
            expected = sum(by_ones.place(claim) for _ in range(number))
            assert at_once.place_many(claim, number) == expected, seed
            held = sum(standing(by_ones).values())
            assert sum(standing(at_once).values()) == held
            assert all(found.free(card) >= 0 for found in (at_once, by_ones) for card in room)


@pytest.mark.parametrize("block", range(20))
def test_t3_who_is_short_finds_a_place_at_once_where_brute_force_finds_one(block: int) -> None:
    for seed in range(40 * block, 40 * (block + 1)):
        room, kinds = a_world(random.Random(seed), 6)
        claims = [claim for claim, number in kinds for _ in range(min(2, number))]
        found = an_assignment(room, *claims)
        found.settle()
        assert (not list(found.aside())) == fits(room, *claims), seed
        closed = dict(room)
        room.update(dict.fromkeys(room, 0))
        found.settle()
        assert sum(number for _, number in found.aside()) == len(claims)
        room.update(closed)
        found.settle()
        assert (not list(found.aside())) == fits(room, *claims), seed


def test_what_takes_so_many_moves_costs_the_same_for_one_and_for_very_many() -> None:
    """Those that came first stand where the others must, and ask for other amounts than they."""
    many = 10**9
    room = {"A": 6 * many, "B": 6 * many, "C": 9 * many}
    found = an_assignment(room)
    assert found.place_many(one("A|B", 2), 3 * many) == 3 * many
    assert found.place_many(one("B|C", 5), many) == many
    assert found.place_many(one("A", 3), 2 * many) == 2 * many
    assert found.place_many(one("A|B|C"), 9 * many) == 4 * many


def test_very_many_that_only_a_search_finds_a_place_for_are_searched_together() -> None:
    many = 3 * 10**6
    found = an_assignment({"A": 5 * many, "B": 5 * many})
    assert found.place_many(one("A|B", 2), 2 * many) == 2 * many
    assert found.place_many(one("A|B", 3), 2 * many) == 2 * many
    assert standing(found) == {"A": 5 * many, "B": 5 * many}


def test_very_many_are_set_aside_and_find_their_place_again_at_once() -> None:
    many = 10**9
    room = {"A": 2 * many, "B": 3 * many}
    found = an_assignment(room)
    for claim in (one("A|B", 2), one("A|B", 3)):
        found.add(claim, many)
    found.settle()
    assert standing(found) == {"A": 2 * many, "B": 3 * many}
    room["B"] = 0
    found.settle()
    held = sum(standing(found).values())
    short = sum(claim.amount * number for claim, number in found.aside())
    assert (held <= 2 * many, held + short) == (True, 5 * many)
    room["B"] = 3 * many
    found.settle()
    assert not list(found.aside())


_FOUND = [
    (10, 1868),
    (0, 3586),
    (10, 5020),
    (3, 6398),
    (10, 7627),
    (40, 2331),
    (40, 4481),
    (40, 5515),
]
"""Steps and seeds with which claims were lost once."""


@pytest.mark.parametrize(("steps", "seed"), [*_FOUND, *((10, seed) for seed in range(300))])
@pytest.mark.parametrize("exchanges", [0, 2, assignment.MOST_EXCHANGES])
def test_who_has_a_place_keeps_one_whatever_the_search_does_not_find(
    steps: int, seed: int, exchanges: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A search has an end, with unequal amounts; what had been found before it is not lost."""
    monkeypatch.setattr(assignment, "MOST_STEPS", steps)
    monkeypatch.setattr(assignment, "MOST_EXCHANGES", exchanges)
    dice = random.Random(seed)
    cards = list("ABCD")[: dice.randint(2, 4)]
    room = {card: dice.randint(0, 14) for card in cards}

    def any_claim() -> Claim:
        names = tuple(sorted(dice.sample(cards, dice.randint(1, len(cards)))))
        return Claim(names, dice.choice([2, 3, 5, 7]))

    found = an_assignment(room)
    kinds = [(any_claim(), dice.randint(1, 5)) for _ in range(dice.randint(1, 5))]
    for _ in range(dice.randint(0, 3)):
        found.add(any_claim())
    found.settle()
    before, without = sum(standing(found).values()), dict(found.aside())
    with found.one_question():
        placed = [(claim, found.place_many(claim, number)) for claim, number in kinds]
        asked = sum(claim.amount * number for claim, number in placed)
        fixed: list[tuple[Claim, int]] = []
        for claim, left in placed:
            while left:
                order = list(claim.cards)
                dice.shuffle(order)
                had = ((card, found.fix(claim, card, left)) for card in order)
                card, number = next((card, number) for card, number in had if number)
                fixed.append((Claim((card,), claim.amount), number))
                left -= number
        assert sum(standing(found).values()) == before + asked
        assert all(found.free(card) >= 0 for card in cards)
        for claim, number in fixed:
            found.give_back(claim, number)
    assert sum(standing(found).values()) == before
    assert dict(found.aside()) == without

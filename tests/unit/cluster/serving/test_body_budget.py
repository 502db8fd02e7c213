"""One sum for all bodies in work, and a part of it for small ones."""

import pytest

from cardquota.cluster.serving import SMALL, BodyBudget, BodyHold, BusyError

LARGE = 4 * SMALL


def held(budget: BodyBudget, size: int) -> BodyHold:
    hold = BodyHold(budget)
    hold.grow_to(size)
    return hold


def test_what_is_released_has_room_for_others() -> None:
    budget = BodyBudget(4 * LARGE)
    holds = [held(budget, LARGE) for _ in range(3)]
    with pytest.raises(BusyError):
        held(budget, LARGE)
    holds[0].release()
    holds[0].release()
    held(budget, LARGE)
    assert budget.held == 3 * LARGE


def test_large_bodies_leave_a_quarter_to_small_ones() -> None:
    budget = BodyBudget(4 * LARGE)
    for _ in range(3):
        held(budget, LARGE)
    for _ in range(LARGE // SMALL):
        held(budget, SMALL)
    with pytest.raises(BusyError):
        held(budget, 1)


def test_a_body_that_grows_holds_what_has_come() -> None:
    """And is given up as a whole."""
    budget = BodyBudget(4 * SMALL)
    hold = held(budget, SMALL)
    hold.grow_to(3 * SMALL)
    hold.grow_to(2 * SMALL)
    with pytest.raises(BusyError):
        hold.grow_to(3 * SMALL + 1)
    assert budget.held == 3 * SMALL
    hold.release()
    assert budget.held == 0

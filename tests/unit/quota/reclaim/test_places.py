"""L5: who may get a plan beside those that are carried out."""

import pytest

from builders import H200, H800
from cardquota.quota.ledger import KeptRoom
from cardquota.quota.reclaim import Beneficiary, ReclaimWay
from cardquota.quota.reclaim.places import StandingPlan, TakenPlaces


def standing(cards: str, queue: str, *, inside: bool = False, all_end: bool = True) -> StandingPlan:
    room = KeptRoom("team", "x", False, frozenset(cards.split()), queue if inside else "")
    return StandingPlan(room, queue, all_end)


def one(way: ReclaimWay, queue: str = "blue") -> Beneficiary:
    return Beneficiary(way, "uid-w", "team", "w", False, queue, H200, 1, 0, ("uid-w",))


BETWEEN = standing(H200, "blue")


@pytest.mark.parametrize(
    ("plans", "way", "places", "barred"),
    [
        ([], "reclaim", None, False),
        ([BETWEEN, BETWEEN], "reclaim", None, False),
        ([BETWEEN] * 3, "reclaim", None, True),
        ([standing(H200, "green")] * 3, "reclaim", None, False),
        ([standing(H800, "blue")] * 3, "reclaim", None, False),
        ([standing(H800, "blue")] * 3, "reclaim", {(H200, ""), (H800, "")}, True),
        ([standing(H200, "green", all_end=False)], "reclaim", None, True),
        ([standing(H800, "green", all_end=False)], "reclaim", None, False),
        ([standing(H200, "blue", inside=True, all_end=False)] * 3, "reclaim", None, False),
        ([standing(H200, "green")], "preempt", None, True),
        ([standing(H200, "blue", inside=True)], "preempt", None, True),
        ([standing(H200, "green", inside=True)], "preempt", None, False),
    ],
)
def test_l5_whose_turn_it_is(
    plans: list[StandingPlan], way: str, places: set[tuple[str, str]] | None, *, barred: bool
) -> None:
    assert TakenPlaces(plans).bar(one(ReclaimWay(way)), places) is barred

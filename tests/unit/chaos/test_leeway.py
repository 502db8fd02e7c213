"""How old a view may be, and what was so at any time since."""

from chaos.judging.leeway import BEHIND, MARGIN, Lately, Leeway, Trouble


def test_views_are_a_moment_old() -> None:
    assert Leeway().since(100.0) == 100.0 - MARGIN


def test_in_trouble_and_just_after_it_they_are_as_old_as_that() -> None:
    leeway = Leeway([Trouble(50.0, 60.0)])
    assert leeway.since(50.0) == 50.0 - MARGIN
    assert leeway.since(55.0) == 50.0 - MARGIN
    assert leeway.since(60.0 + MARGIN - 1) == 50.0 - MARGIN
    assert leeway.since(60.0 + MARGIN) == 60.0


def test_where_the_api_server_was_away_they_may_be_for_longer() -> None:
    leeway = Leeway([Trouble(50.0, 60.0, behind=BEHIND)])
    assert leeway.since(60.0 + BEHIND + MARGIN - 1) == 50.0 - MARGIN
    assert leeway.since(60.0 + BEHIND + MARGIN) == 60.0 + BEHIND


def test_what_follows_another_trouble_is_another_one() -> None:
    """Who decides was told everything in between."""
    leeway = Leeway([Trouble(62.0, 70.0), Trouble(50.0, 60.0), Trouble(71.0, 80.0)])
    assert leeway.since(64.0) == 50.0 - MARGIN
    assert leeway.since(66.0) == 62.0 - MARGIN
    assert leeway.since(76.0) == 71.0 - MARGIN


def test_what_begins_before_everybody_has_caught_up_prolongs_it() -> None:
    first, second = Trouble(50.0, 60.0, behind=BEHIND), Trouble(70.0, 90.0, old=False)
    leeway = Leeway([first, second, Trouble(91.0, 95.0)])
    assert leeway.since(89.0) == 50.0 - MARGIN
    assert leeway.since(98.0) == 91.0 - MARGIN


def test_a_leader_that_has_just_caught_up_is_not_behind_since_before() -> None:
    first = Trouble(50.0, 60.0, behind=BEHIND)
    leeway = Leeway([first, Trouble(70.0, 90.0, anew=True)])
    assert leeway.since(75.0) == 50.0 - MARGIN
    assert leeway.since(89.0) == 70.0 - MARGIN


def test_all_that_it_was_since_then() -> None:
    lately = Lately[str, int]()
    assert lately.values("a", 0.0) == []
    for at, value in ((1.0, 3), (2.0, 3), (4.0, 5), (6.0, 1)):
        lately.note("a", at, value)
    assert lately.values("a", 0.0) == [3, 5, 1]
    assert lately.values("a", 3.0) == [3, 5, 1]
    assert lately.values("a", 4.0) == [5, 1]
    assert lately.values("a", 9.0) == [1]
    assert lately.values("b", 9.0) == []

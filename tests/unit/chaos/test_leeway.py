"""How old a view may be, and what was so at any time since."""

from chaos.leeway import MARGIN, Lately, Leeway


def test_views_are_a_moment_old() -> None:
    assert Leeway().since(100.0) == 100.0 - MARGIN


def test_in_a_fault_and_just_after_it_they_are_as_old_as_that() -> None:
    leeway = Leeway([(50.0, 60.0)])
    assert leeway.since(50.0) == 50.0 - MARGIN
    assert leeway.since(55.0) == 50.0 - MARGIN
    assert leeway.since(60.0 + MARGIN - 1) == 50.0 - MARGIN
    assert leeway.since(60.0 + MARGIN) == 60.0


def test_faults_that_follow_each_other_are_one() -> None:
    leeway = Leeway([(62.0, 70.0), (50.0, 60.0), (20.0, 30.0)])
    assert leeway.since(71.0) == 50.0 - MARGIN


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

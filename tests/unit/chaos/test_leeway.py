"""How old a view may be, and what was so at any time since."""

import pytest

from chaos.judging.leeway import BEHIND, MARGIN, Lately, Leeway, Trouble

ONE = Trouble(50.0, 60.0)
AWAY = Trouble(50.0, 60.0, behind=BEHIND)
NEXT = Trouble(70.0, 90.0, old=False)


@pytest.mark.parametrize(
    ("troubles", "at", "since"),
    [
        # Views are a moment old. In trouble, and just after it, they are as old as that.
        ([], 100.0, 100.0),
        ([ONE], 50.0, 50.0),
        ([ONE], 55.0, 50.0),
        ([ONE], 60.0 + MARGIN - 1, 50.0),
        ([ONE], 60.0 + MARGIN, 60.0 + MARGIN),
        # Where the API server was away they may be for longer.
        ([AWAY], 60.0 + BEHIND + MARGIN - 1, 50.0),
        ([AWAY], 60.0 + BEHIND + MARGIN, 60.0 + BEHIND + MARGIN),
        # What follows another trouble is another one: who decides was told all in between.
        *(
            ([Trouble(62.0, 70.0), ONE, Trouble(71.0, 80.0)], at, since)
            for at, since in ((64.0, 50.0), (66.0, 62.0), (76.0, 71.0))
        ),
        # What begins before everybody has caught up prolongs it.
        ([AWAY, NEXT, Trouble(91.0, 95.0)], 89.0, 50.0),
        ([AWAY, NEXT, Trouble(91.0, 95.0)], 98.0, 91.0),
        # A leader that has just caught up is not behind since before.
        ([AWAY, Trouble(70.0, 90.0, anew=True)], 75.0, 50.0),
        ([AWAY, Trouble(70.0, 90.0, anew=True)], 89.0, 70.0),
    ],
)
def test_how_old_what_decides_may_be(troubles: list[Trouble], at: float, since: float) -> None:
    assert Leeway(troubles).since(at) == since - MARGIN


def test_all_that_it_was_since_then() -> None:
    lately = Lately[str, int]()
    for at, value in ((1.0, 3), (2.0, 3), (4.0, 5), (6.0, 1)):
        lately.note("a", at, value)
    since = [lately.values("a", at) for at in (0.0, 3.0, 4.0, 9.0)]
    assert since == [[3, 5, 1], [3, 5, 1], [5, 1], [1]]
    assert lately.values("b", 9.0) == []

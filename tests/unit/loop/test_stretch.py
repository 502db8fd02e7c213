"""What a long stretch of the event loop went to, and how it is told."""

import pytest

from cardquota.loop.longest import Longest
from cardquota.loop.stretch import Cause, Stretch


@pytest.mark.parametrize(
    ("stretch", "cause"),
    [
        (Stretch(0.1), Cause.WORK),
        (Stretch(0.1, collected=0.04), Cause.WORK),
        (Stretch(0.1, collected=0.06), Cause.COLLECTOR),
        (Stretch(0.1, ran=0.3), Cause.STARVED),
        (Stretch(0.1, ran=0.9), Cause.WORK),
        # A collection in another thread: the loop's own waits for it.
        (Stretch(0.1, collected=0.09, ran=0.05), Cause.COLLECTOR),
    ],
)
def test_the_cause_is_what_took_most_of_it(stretch: Stretch, cause: Cause) -> None:
    assert stretch.cause is cause


def test_the_text_names_time_cause_and_place() -> None:
    found = Stretch(0.1324, collected=0.012, place="cardquota/quota/ledger.py:7 pod_seen").text
    assert found == (
        "132 ms, work, garbage collector 12 ms, in cardquota/quota/ledger.py:7 pod_seen"
    )
    assert Stretch(0.2, ran=0.25).text == "200 ms, starved, on a processor for 25% of it"


def test_the_longest_is_shown_for_one_to_two_windows() -> None:
    longest = Longest(window=60)
    assert longest.of_late(0) == 0
    longest.add(100, 0.2)
    longest.add(110, 0.3)
    longest.add(120, 0.1)
    assert longest.of_late(120) == 0.3
    longest.add(165, 0.01)  # another window: that before is still shown
    assert longest.of_late(170) == 0.3
    longest.add(226, 0.02)
    assert longest.of_late(226) == 0.02
    assert longest.of_late(290) == 0.02
    assert longest.of_late(400) == 0


def test_what_ended_long_ago_is_not_the_window_before() -> None:
    longest = Longest(window=60)
    longest.add(0, 0.5)
    longest.add(500, 0.1)
    assert longest.of_late(500) == 0.1

"""For how long the longest stretch is shown."""

from cardquota.loop import Longest


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

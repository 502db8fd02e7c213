"""A run is clean only if it shows something, and nothing that must not be."""

from pathlib import Path

import pytest

from chaos.clients.lending import CAME_BACK, TAKEN
from chaos.clients.objects import A, D
from chaos.judging.leeway import Trouble
from chaos.judging.pauses import AT_ALL, IN_CALM
from chaos.lengths import SHORT
from chaos.replay import ENDED, replay
from chaos.report import Beside, Report

from .story import Story


@pytest.fixture
def story(tmp_path: Path) -> Story:
    return Story(tmp_path).queue("q", {A: 3})


def report_of(
    story: Story, *troubles: Trouble, wrong: tuple[float, float] | None = None, kills: int = 1
) -> Report:
    seen = replay(story.file, troubles=troubles, wrong_times=[wrong] if wrong else [])
    return Report(Beside(seed=1, tally={"kills": kills}, kills=1), seen)


@pytest.mark.parametrize(
    ("cards", "kills", "clean", "says_nothing"),
    [
        (1, 1, True, ""),
        (0, 1, False, "nothing was released"),
        (1, 0, False, "1 kills were wanted, and there were 0"),
        # What was found says something however little happened.
        (4, 0, False, ""),
    ],
)
def test_a_run_is_clean_that_let_something_through(
    story: Story, cards: int, kills: int, clean: bool, says_nothing: str
) -> None:
    if cards:
        story.waits("a", cards).opens("a")
    report = report_of(story, kills=kills)
    assert (report.clean, report.says_nothing) == (clean, says_nothing)
    ends = f"INVALID, says nothing: {says_nothing}"
    assert report.text().endswith(ends) if says_nothing else "INVALID" not in report.text()


def test_nor_is_one_in_which_something_never_came(story: Story) -> None:
    seen = replay(story.waits("a", 1).opens("a").file)
    run = Beside(seed=1, tally={"fault: x": 1, "fault: y": 0}, wanted=("fault: x", "fault: y"))
    assert Report(run, seen).says_nothing == "not once: fault: y"
    run.tally["fault: y"] = 1
    assert Report(run, seen).clean


@pytest.mark.parametrize("got", [CAME_BACK, TAKEN])
def test_nor_one_in_which_cards_were_taken_and_nobody_was_ended(story: Story, got: str) -> None:
    story.queue("b", {D: 4}).queue("o", {D: 2}).lends(*"wxyz").owed("o").plans("o", "z")
    run = Beside(seed=1, tally={got: 1}, wanted=(got,))
    assert Report(run, replay(story.file)).says_nothing == f"not once: {ENDED}"
    assert Report(run, replay(story.ends("z").file)).clean


def test_a_run_that_was_not_judged_says_nothing() -> None:
    assert Report(Beside(seed=1)).says_nothing
    assert not Report(Beside(seed=1)).clean


def test_who_fits_and_waits_for_long_while_nothing_is_wrong_is_found(story: Story) -> None:
    report = report_of(story.waits("a").pause(IN_CALM).opens("a"))
    (found,) = report.findings
    assert found.startswith("nothing of q was released for 10.5 s although something would")


def test_and_also_if_it_still_waits_in_the_end(story: Story) -> None:
    story.waits("x").opens("x").waits("a").pause(IN_CALM).put("lease", "x", {"metadata": {}})
    assert len(report_of(story).findings) == 1


def test_who_waits_while_something_is_wrong_has_more_time(story: Story) -> None:
    story.waits("a")
    begun = story.now
    story.pause(IN_CALM + 10).opens("a")
    assert report_of(story, wrong=(begun, begun + 8)).clean
    assert report_of(story, Trouble(begun, begun + 2, behind=6)).clean
    assert not report_of(story, wrong=(begun - 9, begun)).clean


def test_but_not_for_ever(story: Story) -> None:
    story.waits("a")
    begun = story.now
    story.pause(AT_ALL).opens("a")
    assert not report_of(story, wrong=(begun, story.now)).clean


def test_a_short_run_leaves_more_time(story: Story) -> None:
    """One fault follows the other there; in calm it leaves no more."""
    story.waits("a")
    begun = story.now
    story.pause(AT_ALL).opens("a")
    wrong = [(begun, story.now)]
    assert replay(story.file, wrong_times=wrong).too_long
    assert not replay(story.file, wrong_times=wrong, longest_pause=SHORT.longest_pause).too_long
    assert replay(story.file, longest_pause=SHORT.longest_pause).too_long


def test_who_waits_for_room_is_no_pause(story: Story) -> None:
    story.waits("a", 3).opens("a").waits("b").pause(100).goes("a").opens("b")
    assert report_of(story).clean

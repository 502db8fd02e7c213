"""What waits although there is room is named; what has to wait is not."""

from pathlib import Path

import pytest

from chaos.clients.objects import A, B
from chaos.judging.fitting import fitting
from chaos.replay import replay

from .story import Story


@pytest.fixture
def story(tmp_path: Path) -> Story:
    return Story(tmp_path).queue("q", {A: 3, B: 1})


def fits(story: Story) -> list[str]:
    return fitting(replay(story.file).recount, "q")


def test_a_pod_with_room(story: Story) -> None:
    story.waits("a", 3).waits("b", 4)
    assert fits(story) == ["a"]


def test_any_of_its_cards_will_do(story: Story) -> None:
    story.waits("full", 3).opens("full").waits("either", cards=f"{A}|{B}").waits("a")
    assert fits(story) == ["either"]


def test_a_gang_fits_whole_or_not_at_all(story: Story) -> None:
    story.group("g", 3)
    story.waits("a", group="g").waits("b", group="g")
    assert fits(story) == []
    story.waits("c", group="g")
    assert fits(story) == ["chaos/g"]
    story.waits("x").opens("x")
    assert fits(story) == []


def test_a_member_has_what_its_group_reserves(story: Story) -> None:
    """Once some of it was let through; else it starts whole."""
    story.group("g", 3, reserving=3).waits("a", group="g").waits("x")
    assert fits(story) == []
    story.waits("b", group="g").opens("b")
    assert fits(story) == ["a"]

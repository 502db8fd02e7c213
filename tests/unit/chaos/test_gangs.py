"""What a history shows of gangs: reserved enough before the first gate, and started whole."""

from pathlib import Path

import pytest

from chaos.clients.objects import A
from chaos.judging.calm import AFTER, TAKING_OVER, Calm, without_a_leader
from chaos.judging.starts import SOON
from chaos.replay import replay

from .story import Story

LONG = SOON + 1


@pytest.fixture
def story(tmp_path: Path) -> Story:
    return Story(tmp_path).queue("q", {A: 9}).queue("other", {A: 9})


def gang(story: Story, minimum: int = 3, members: str = "abc", amount: int = 1) -> Story:
    story.group("g", minimum)
    for name in members:
        story.waits(name, amount, group="g")
    return story


def found(story: Story, *wrong: tuple[float, float]) -> list[str]:
    return [one.what for one in replay(story.file, wrong_times=wrong).violations]


# --- the reservation --------------------------------------------------------------------------


def test_a_reservation_of_nothing_is_none(story: Story) -> None:
    gang(story).group("g", 3, reserving=0).opens("a")
    assert found(story) == ["a is let through, and is not covered by what is reserved for its gang"]


def test_a_reservation_in_the_queue_that_the_group_has_left_is_none(story: Story) -> None:
    gang(story).group("g", 3, reserving=3).pause(60)
    story.group("g", 3, reserving=3, reserved_in="q", queue="other").pause(60)
    story.opens("a", queue="other")
    assert "a is let through, and is not covered by what is reserved for its gang" in found(story)


def test_who_was_let_through_as_the_group_left_was_covered(story: Story) -> None:
    gang(story).group("g", 3, reserving=3).opens("a")
    story.group("g", 3, reserving=3, reserved_in="q", queue="other").opens("b").goes("b")
    assert [what for what in found(story) if "let through" in what] == []


def test_a_reservation_that_is_one_card_short_is_not_enough_for_the_last(story: Story) -> None:
    gang(story).group("g", 3, reserving=2).opens("a").opens("b").opens("c")
    assert found(story) == ["c is let through, and is not covered by what is reserved for its gang"]


def test_of_members_that_differ_each_must_be_covered(story: Story) -> None:
    gang(story, 2, "a").waits("b", 3, group="g").group("g", 2, reserving=2).opens("b")
    assert found(story) == ["b is let through, and is not covered by what is reserved for its gang"]


def test_a_member_without_cards_needs_the_reservation_alone(story: Story) -> None:
    gang(story, 2, "ab", 0).group("g", 2, reserving=0).opens("a").opens("b")
    assert found(story) == []


# --- the group --------------------------------------------------------------------------------


def test_a_pod_of_a_group_that_never_was_waits(story: Story) -> None:
    assert found(story.waits("a", group="nobody").pause(60).opens("a")) == [
        "a is let through, and its group is not there"
    ]


def test_a_pod_of_a_group_that_is_gone_waits(story: Story) -> None:
    story.group("g", 1).waits("a", group="g").opens("a").put("group", "g", None)
    story.waits("b", group="g").pause(300).opens("b")
    assert found(story) == ["b is let through, and its group is not there"]


def test_who_decided_just_before_the_group_went_did_nothing_wrong(story: Story) -> None:
    story.group("g", 1).waits("a", group="g").put("group", "g", None).opens("a")
    assert found(story) == []


# --- whole ------------------------------------------------------------------------------------


def test_a_gang_that_starts_in_part_is_found(story: Story) -> None:
    gang(story).group("g", 3, reserving=3).opens("a").runs("a").pause(15).group("g", 3)
    assert found(story) == ["chaos/g was started with 1 of 3"]


def test_a_gang_that_starts_one_short_is_found_when_the_history_ends(story: Story) -> None:
    gang(story).group("g", 3, reserving=3).opens("a").opens("b").pause(LONG).queue("other", {A: 8})
    assert found(story) == ["chaos/g was started with 2 of 3"]


def test_a_gang_that_lost_its_reservation_when_its_time_was_over_is_none_of_these(
    story: Story,
) -> None:
    """E8: what was let through stays. Given back before that, or not at all, is no excuse."""
    gang(story).group("g", 3, reserving=3).opens("a").runs("a").pause(8).group("g", 3)
    story.pause(60).queue("other", {A: 8})
    assert replay(story.file, reservation_timeout=6).violations == []
    missing = ["chaos/g was started with 1 of 3"]
    late = replay(story.file, reservation_timeout=20).violations
    assert [one.what for one in late] == missing
    assert found(story) == missing


def test_a_gang_may_take_a_moment(story: Story) -> None:
    gang(story).group("g", 3, reserving=3).opens("a").opens("b").pause(SOON - 2).opens("c")
    assert found(story.pause(LONG).queue("other", {A: 8})) == []


def test_what_was_wrong_meanwhile_is_no_part_of_the_moment(story: Story) -> None:
    gang(story).group("g", 3, reserving=3).opens("a").opens("b")
    begun = story.now
    story.pause(40).opens("c")
    assert found(story, (begun, story.now - AFTER)) == []
    assert len(found(story, (begun, story.now - AFTER - LONG))) == 1


def test_nor_is_a_time_without_a_leader(story: Story) -> None:
    def lease(holder: str | None) -> None:
        story.put("lease", "cardquota", {"metadata": {}, "spec": {"holderIdentity": holder}})

    gang(story).group("g", 3, reserving=3)
    lease("cardquota-0_a")
    renewed = story.now
    story.opens("a").opens("b").pause(30)
    lease(None)
    lease("cardquota-1_b")
    taken = story.now
    story.pause(TAKING_OVER).opens("c")
    assert found(story) == []
    spans = without_a_leader(story.file)
    assert (min(spans)[0], max(end for _, end in spans)) == (renewed, taken + TAKING_OVER)


@pytest.mark.parametrize("change", ["member deleted", "moved", "minimum raised", "group deleted"])
def test_what_others_took_away_is_not_the_products_to_start(story: Story, change: str) -> None:
    gang(story).group("g", 3, reserving=3).opens("a").opens("b")
    if change == "member deleted":
        story.goes("b")
    elif change == "group deleted":
        story.put("group", "g", None)
    else:
        story.group("g", 3 + (change != "moved"), queue="other" if change == "moved" else "q")
    assert found(story.pause(60).queue("other", {A: 8})) == []


def test_nor_is_what_they_took_away_a_moment_before_its_first_gate(story: Story) -> None:
    """The gate was decided on before, and stored after it."""
    gang(story, 2, "ab").group("g", 2, reserving=2).goes("b").opens("a")
    assert found(story.pause(60).queue("other", {A: 8})) == []


def test_who_was_gone_before_it_could_be_decided_is_no_excuse(story: Story) -> None:
    gang(story, 2, "ab").group("g", 2, reserving=2).goes("b").pause(60).opens("a")
    assert "chaos/g was started with 1 of 2" in found(story.pause(60).queue("other", {A: 8}))


def test_further_members_follow_one_by_one(story: Story) -> None:
    gang(story).group("g", 3, reserving=3).opens("a").opens("b").opens("c").group("g", 3)
    story.waits("d", group="g").waits("e", group="g").opens("d").pause(60).queue("other", {A: 8})
    assert found(story) == []


def test_a_gang_that_needs_more_members_now_starts_them_together(story: Story) -> None:
    gang(story, 2, "ab").group("g", 2, reserving=2).opens("a").opens("b").group("g", 4)
    story.waits("c", group="g").waits("d", group="g").pause(6).group("g", 4, reserving=4)
    story.opens("c").pause(LONG).queue("other", {A: 8})
    assert found(story) == ["chaos/g was started with 3 of 4"]


def test_calm_is_what_is_left_of_a_time() -> None:
    calm = Calm([(10, 20), (15, 30 - AFTER), (60, 70)])
    assert calm.seconds(0, 10) == 10
    assert calm.seconds(5, 40) == 15
    assert calm.seconds(15, 30) == 0
    assert calm.seconds(0, 100) == 100 - 20 - 10 - AFTER

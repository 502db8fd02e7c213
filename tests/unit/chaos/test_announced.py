"""What a history shows of groups that were enqueued before their pods were there (E1, T2)."""

from pathlib import Path

import pytest

from chaos.clients.objects import A, B
from chaos.judging.fitting import fitting, may_stay
from chaos.judging.pauses import IN_CALM
from chaos.replay import replay

from .story import Story

EITHER = f"{A}|{B}"


@pytest.fixture
def story(tmp_path: Path) -> Story:
    return Story(tmp_path).queue("q", {A: 3, B: 1})


def found(story: Story) -> list[str]:
    return [violation.what for violation in replay(story.file).violations]


def fits(story: Story) -> list[str]:
    return fitting(replay(story.file).recount, "q")


def elastic(story: Story, number: int = 3) -> Story:
    """A group that needs one pod and has so many."""
    story.group("service", 1)
    for name in [f"s{n}" for n in range(number)]:
        story.waits(name, group="service").opens(name).runs(name)
    return story


# --- enqueued -----------------------------------------------------------------------------------


def test_what_fits_is_enqueued_and_its_pods_replace_it(story: Story) -> None:
    story.announces("g", {A: 3}).announces("g", {A: 3}, {A: 3})
    story.waits("a", group="g").waits("b", group="g").group("g", 2, reserving=2)
    story.opens("a").opens("b").runs("a").runs("b").group("g", 2)
    assert found(story) == []
    assert replay(story.file).counts["groups enqueued"] == 1


def test_what_does_not_fit_is_found(story: Story) -> None:
    story.waits("x", 2).opens("x").announces("g", {A: 2}, {A: 2})
    assert found(story) == [f"chaos/g is enqueued with 2 of {A}, and q lacks 1 of {A}"]


def test_two_that_do_not_fit_together_are_found(story: Story) -> None:
    story.announces("g", {A: 2}, {A: 2}).announces("h", {A: 2}, {A: 2})
    assert found(story) == [f"chaos/h is enqueued with 2 of {A}, and q lacks 1 of {A}"]


def test_what_is_elastic_makes_room_for_a_reservation(story: Story) -> None:
    elastic(story).announces("g", {A: 2}).announces("g", {A: 2}, {A: 2})
    assert found(story) == []
    assert replay(story.file).counts["groups enqueued over what is elastic"] == 1
    story.announces("h", {A: 1}, {A: 1})
    assert found(story) == [f"chaos/h is enqueued with 1 of {A}, and q lacks 1 of {A}"]


def test_and_none_for_a_gate(story: Story) -> None:
    elastic(story).announces("g", {A: 2}, {A: 2}).pause(6)
    story.waits("a", group="g").waits("b", group="g").group("g", 2, reserving=2).opens("a")
    assert f"q holds 4 of {A}, quota 3" in found(story)


def test_what_was_decided_before_a_group_was_enqueued_may_be_stored_after_it(story: Story) -> None:
    """A gang that asks for all that is free, and then one that stands over what is elastic."""
    elastic(story, 2).queue("q", {A: 4, B: 1}).group("h", 2)
    story.waits("a", group="h").waits("b", group="h").announces("g", {A: 1})
    story.announces("g", {A: 1}, {A: 1}).group("h", 2, reserving=2)
    assert found(story) == []
    story.waits("x").opens("x")
    assert f"q holds and reserves 5 of {A}, quota 4" in found(story)


def test_a_choice_too_may_stand_over_what_is_elastic(story: Story) -> None:
    elastic(story, 3).announces("g", {EITHER: 2}).announces("g", {EITHER: 2}, {A: 2})
    story.waits("x", cards=B).opens("x", card=B)
    assert found(story) == []


def test_a_choice_gets_no_card_that_is_over_a_lowered_quota(story: Story) -> None:
    """It gets the other one; who asks for that card alone does not."""
    for name in ("x", "y"):
        story.waits(name).opens(name)
    story.queue("q", {A: 1, B: 1}).pause(20).announces("g", {EITHER: 1}, {B: 1})
    assert found(story) == []
    story.announces("h", {A: 1}, {A: 1})
    assert found(story) == [f"chaos/h is enqueued with 1 of {A}, and q lacks 2 of {A}"]


def test_what_was_elastic_a_moment_ago_counts(story: Story) -> None:
    elastic(story).group("service", 3).announces("g", {A: 2}, {A: 2})
    assert found(story) == []
    story.pause(6).announces("h", {B: 1}, {B: 1})
    assert found(story) == []
    story.announces("i", {A: 1}, {A: 1})
    assert found(story) == [f"chaos/i is enqueued with 1 of {A}, and q lacks 3 of {A}"]


def test_a_choice_is_reserved_on_any_of_its_cards(story: Story) -> None:
    assert found(story.announces("g", {EITHER: 2}, {A: 2})) == []
    assert found(story.announces("h", {EITHER: 2}, {A: 1, B: 1})) == []
    story.queue("q", {A: 9, B: 9}).announces("i", {EITHER: 1, B: 1}, {A: 2})
    assert found(story) == [f"chaos/i is enqueued with 2 of {A}, which it did not ask for"]


def test_what_the_group_did_not_say_is_found(story: Story) -> None:
    story.announces("g", {A: 1}).pause(6).announces("g", {A: 1}, {A: 2})
    assert found(story) == [f"chaos/g is enqueued with 2 of {A}, which it did not ask for"]


def test_what_it_said_a_moment_ago_counts(story: Story) -> None:
    assert found(story.announces("g", {A: 2}).announces("g", {A: 1}, {A: 2})) == []


def test_a_reservation_is_given_back_before_there_is_another(story: Story) -> None:
    story.announces("g", {A: 2}, {A: 2}).announces("g", {A: 1}, {A: 1})
    assert found(story) == ["chaos/g is enqueued anew before that was given back"]


def test_a_reservation_that_is_added_to_the_members_is_found(story: Story) -> None:
    story.queue("q", {A: 9}).announces("g", {A: 2}, {A: 2})
    story.waits("a", group="g").waits("b", group="g").group("g", 2, reserving=4)
    assert found(story) == [f"chaos/g reserves 4 of {A} in q; its members can hold 2"]


def test_no_gate_opens_before_that_is_replaced(story: Story) -> None:
    story.announces("g", {A: 2}, {A: 2}).waits("a", group="g").waits("b", group="g").opens("a")
    assert found(story) == ["a is let through, and nothing is reserved for its gang"]


# --- who waits ----------------------------------------------------------------------------------


def test_a_group_that_could_be_enqueued_waits(story: Story) -> None:
    story.announces("g", {A: 3}).announces("h", {A: 3, EITHER: 2})
    assert fits(story) == ["chaos/g, to be enqueued,"]
    story.announces("g", {A: 3}, {A: 3}).announces("i", {EITHER: 2}).announces("j", {EITHER: 1})
    assert fits(story) == ["chaos/j, to be enqueued,"]


def test_it_may_stand_over_what_is_elastic(story: Story) -> None:
    assert fits(elastic(story).announces("g", {A: 2})) == ["chaos/g, to be enqueued,"]
    story.announces("g", {A: 2}, {A: 2}).waits("a", group="g").waits("b", group="g")
    assert fits(story) == []
    assert fits(story.goes("s0").goes("s1")) == ["chaos/g"]


def test_its_pods_may_use_what_is_reserved_for_it_and_others_may_not(story: Story) -> None:
    story.announces("g", {EITHER: 2}, {EITHER: 2}).waits("x", 2)
    assert fits(story) == ["x"]
    story.waits("y", 2).opens("y").waits("a", cards=EITHER, group="g")
    assert fits(story) == []
    assert fits(story.waits("b", cards=EITHER, group="g")) == ["chaos/g"]


def test_who_lost_its_place_asks_again_with_its_first_pod_or_for_something_else(
    story: Story,
) -> None:
    story.announces("g", {A: 2}, {A: 2}).announces("g", {A: 2})
    assert fits(story) == []
    assert fits(story.waits("a", group="g")) == ["chaos/g, to be enqueued,"]
    story.goes("a").announces("g", {A: 1})
    assert fits(story) == ["chaos/g, to be enqueued,"]


def test_a_group_that_could_be_enqueued_for_long_is_a_pause(story: Story) -> None:
    story.announces("g", {A: 2}).pause(IN_CALM + 1).announces("g", {A: 2}, {A: 2})
    (pause,) = replay(story.file).too_long
    assert pause.startswith("nothing of q was let through for 11.5 s")


def test_what_may_stay_reserved(story: Story) -> None:
    """Pods are still to come, or wait for what is elastic: else it is left over."""

    def stays() -> bool:
        recount = replay(story.file).recount
        return may_stay(recount, recount.groups["chaos/g"])

    elastic(story, 2).announces("g", {A: 2}, {A: 2})
    assert not stays()
    assert (story.waits("a", group="g"), stays())[1]
    assert (story.waits("b", group="g"), stays())[1]
    assert not (story.goes("s1"), stays())[1]


def test_elastic_are_those_that_were_bound_last(story: Story) -> None:
    elastic(story, 2).waits("b", 2, cards=B, group="service").opens("b", card=B)
    story.runs("b", node="chaos-1")
    recount = replay(story.file).recount
    assert recount.elastic("q") == {A: 1, B: 2}
    assert replay(story.goes("s0").file).recount.elastic("q") == {B: 2}

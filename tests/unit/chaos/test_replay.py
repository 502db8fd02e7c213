"""The replay finds what was planted, and nothing where nothing was."""

from pathlib import Path

import pytest

from chaos.clients.objects import A, B
from chaos.history import HistoryError
from chaos.judging.denials import Denial
from chaos.judging.leeway import Trouble
from chaos.replay import Replay, replay

from .story import Story


@pytest.fixture
def story(tmp_path: Path) -> Story:
    return Story(tmp_path).queue("q", {A: 3, B: 2})


def found(story: Story) -> list[str]:
    return [violation.what for violation in replay(story.file).violations]


def test_pods_that_take_turns_are_no_violation(story: Story) -> None:
    story.waits("a", 2).waits("b", 2).opens("a").runs("a").runs("a", phase="Succeeded")
    story.opens("b").runs("b").goes("a").goes("b")
    assert found(story) == []


def test_one_card_too_many_is_found_at_its_revision(story: Story) -> None:
    story.waits("a", 2).waits("b", 2).opens("a").runs("a").opens("b")
    violations = replay(story.file).violations
    assert [violation.what for violation in violations] == [f"q holds 4 of {A}, quota 3"]
    assert violations[0].revision == story.revision


def test_an_excess_is_told_once_and_again_when_it_grows(story: Story) -> None:
    for name in "abcde":
        story.waits(name).opens(name)
    story.runs("a").runs("b")
    assert found(story) == [f"q holds 4 of {A}, quota 3", f"q holds 5 of {A}, quota 3"]


def test_a_terminating_pod_counts_until_it_is_gone(story: Story) -> None:
    story.waits("a", 3).opens("a").runs("a").waits("b").opens("b").goes("a")
    assert found(story) == [f"q holds 4 of {A}, quota 3"]


def test_a_lowered_quota_is_no_violation_but_taking_more_is(story: Story) -> None:
    story.waits("a", 3).opens("a").queue("q", {A: 1})
    assert found(story) == []
    story.pause(6).waits("b").opens("b")
    assert found(story) == [f"q holds 4 of {A}, quota 1"]


def test_who_decided_just_before_a_quota_was_lowered_did_nothing_wrong(story: Story) -> None:
    story.waits("a", 2).opens("a").waits("b").queue("q", {A: 1}).opens("b")
    assert found(story) == []


def test_nor_did_who_was_in_trouble_since_then(story: Story) -> None:
    story.waits("a", 2).opens("a").waits("b").queue("q", {A: 1}).pause(20).opens("b")
    first = Trouble(story.now - 19, story.now - 15, behind=5)
    second = Trouble(story.now - 11, story.now - 1, old=False)
    assert replay(story.file, troubles=[first, second]).violations == []
    assert len(replay(story.file, troubles=[first]).violations) == 1
    assert len(replay(story.file).violations) == 1


def test_troubles_one_after_the_other_excuse_no_more_than_the_last_one(story: Story) -> None:
    story.waits("a", 2).opens("a").waits("b").queue("q", {A: 2})
    begun = story.now
    story.pause(180).opens("b")
    troubles = [Trouble(begun + 12 * n, begun + 12 * n + 9) for n in range(16)]
    found = [one.what for one in replay(story.file, troubles=troubles).violations]
    assert found == [f"q holds 3 of {A}, quota 2"]


def test_a_charge_that_is_not_what_the_pod_asks_for(story: Story) -> None:
    story.waits("a", 3).opens("a", amount=1)
    assert found(story)[0].startswith("a is charged")


def test_what_is_really_used_counts_whatever_is_written(story: Story) -> None:
    story.waits("a", 3).opens("a", amount=1).waits("b").opens("b")
    assert f"q holds 4 of {A}, quota 3" in found(story)


def test_a_charge_for_a_card_that_the_pod_does_not_name(story: Story) -> None:
    story.waits("a", cards=A).opens("a", card=B)
    assert "asks for 1 of" in found(story)[0]


def test_a_charge_to_another_queue(story: Story) -> None:
    story.queue("other", {A: 5}).waits("a").opens("a", queue="other")
    assert found(story) == ["a is charged to other, not q"]


def test_a_pod_on_another_card_than_it_is_charged_for(story: Story) -> None:
    story.waits("a", cards=f"{A}|{B}").opens("a", card=A).runs("a", node="chaos-1")
    assert found(story) == [f"a runs on {B} and is charged {{'{A}': 1}}"]


def test_a_gate_that_opened_without_a_decision(story: Story) -> None:
    story.waits("a").opens_by_itself("a")
    assert found(story) == ["a is let through and bears no decision"]


def test_another_pod_under_the_name_is_another_pod(story: Story) -> None:
    story.waits("a", 3).opens("a").goes("a").waits("a", 1).waits("b", 2).opens("b").opens("a")
    assert found(story) == []


def test_a_gang_without_a_reservation(story: Story) -> None:
    story.group("g", 2).waits("a", group="g").waits("b", group="g").opens("a")
    assert found(story) == ["a is let through, and nothing is reserved for its gang"]


def test_a_gang_with_one(story: Story) -> None:
    story.group("g", 2).waits("a", group="g").waits("b", group="g")
    story.group("g", 2, reserving=2).opens("a").opens("b").runs("a").runs("b").group("g", 2)
    story.waits("more", group="g").opens("more")
    assert found(story) == []


def test_what_is_reserved_may_not_be_given_to_others(story: Story) -> None:
    story.group("g", 2).waits("a", group="g").waits("b", group="g").group("g", 2, reserving=2)
    story.opens("a").waits("x", 2).opens("x")
    assert found(story) == [f"q holds and reserves 4 of {A}, quota 3"]


def test_what_is_reserved_must_fit(story: Story) -> None:
    story.waits("x", 2).opens("x").group("g", 2)
    story.waits("a", group="g").waits("b", group="g").group("g", 2, reserving=2)
    assert found(story) == [f"q holds and reserves 4 of {A}, quota 3"]


def test_a_reservation_of_more_than_the_members_can_hold_there(story: Story) -> None:
    """What they hold in another queue was never judged in this one, be there room or not."""
    story.queue("own", {A: 4}).group("g", 2, queue="own")
    story.waits("a", group="g").waits("b", group="g").group("g", 2, reserving=2, queue="own")
    story.opens("a", queue="own").opens("b", queue="own").group("g", 2, queue="own")
    story.group("g", 3).waits("c", 0, group="g")
    assert found(story) == []
    story.group("g", 3, reserving=2)
    assert found(story) == [f"chaos/g reserves 2 of {A} in q; its members can hold 0"]


def test_a_reservation_that_stands_is_judged_once(story: Story) -> None:
    """What its members do afterwards is for others to judge."""
    story.group("g", 2).waits("a", group="g").waits("b", group="g").group("g", 2, reserving=2)
    story.opens("a").goes("b").pause(10).group("g", 3, reserving=2)
    assert found(story) == []


def test_members_that_were_there_a_moment_ago_count(story: Story) -> None:
    story.group("g", 2).waits("a", group="g").waits("b", group="g").goes("b")
    assert found(story.group("g", 2, reserving=2)) == []


def test_a_reservation_in_another_queue_than_the_groups(story: Story) -> None:
    story.queue("other", {A: 5}).group("g", 2).waits("a", group="g").waits("b", group="g")
    story.group("g", 2, reserving=2, reserved_in="other")
    assert found(story)[0] == "chaos/g of q reserves in other"


def test_a_reservation_that_grows(story: Story) -> None:
    story.group("g", 2).waits("a", group="g").waits("b", group="g").waits("c", group="g")
    story.group("g", 2, reserving=2).group("g", 2, reserving=3)
    assert found(story) == [f"the reservation of chaos/g grows to 3 of {A}"]


def test_another_group_under_the_name_reserves_anew(story: Story) -> None:
    story.group("g", 2).waits("a", group="g").waits("b", group="g").waits("c", group="g")
    story.group("g", 2, reserving=2).put("group", "g", None).group("g", 3, uid="another")
    assert found(story.group("g", 3, reserving=3, uid="another")) == []


def test_a_member_goes_where_its_group_is_or_was_a_moment_ago(story: Story) -> None:
    story.queue("other", {A: 5}).group("g", 1).waits("a", group="g").waits("b", group="g")
    story.group("g", 1, queue="other").opens("a").pause(6).opens("b")
    assert found(story) == ["b is charged to q, not other"]


def test_a_gang_that_lost_a_member_needs_a_reservation_for_the_next(story: Story) -> None:
    story.group("g", 2).waits("a", group="g").waits("b", group="g").group("g", 2, reserving=2)
    story.opens("a").opens("b").runs("a").runs("b").group("g", 2).goes("b")
    story.waits("c", group="g").opens("c")  # decided before `b` was seen to go
    assert found(story) == []
    story.goes("c").waits("d", group="g").pause(6).opens("d")
    assert found(story) == ["d is let through, and nothing is reserved for its gang"]


def test_a_missing_change_makes_the_run_say_nothing(story: Story) -> None:
    story.waits("a").opens("a").lose_last().runs("a")
    with pytest.raises(HistoryError, match="follows"):
        replay(story.file)


def test_a_missing_first_change_does_too(story: Story) -> None:
    story.waits("a").lose_last().opens("a")
    with pytest.raises(HistoryError, match="follows 0"):
        replay(story.file)


def test_a_missing_change_before_a_deletion_does_too(story: Story) -> None:
    """The one that was over the quota, perhaps."""
    story.waits("a", 3).opens("a").waits("b", 3).opens("b").lose_last().goes("b")
    with pytest.raises(HistoryError, match="was deleted in version 2, which follows 1"):
        replay(story.file)


def test_a_pod_that_was_never_told_of_does_too(story: Story) -> None:
    story.waits("a").lose_last().goes("a")
    with pytest.raises(HistoryError, match="was deleted in version 1, which follows 0"):
        replay(story.file)


def test_counts_and_the_longest_pause(story: Story) -> None:
    story.waits("a", 3).opens("a").waits("b").goes("a")
    since = story.now
    for number in range(6):
        story.put("lease", "cardquota", {"metadata": {"name": str(number)}})
    story.opens("b")
    seen = replay(story.file)
    assert seen.pause == story.now - since
    assert seen.counts["releases"] == 2
    assert seen.counts["pods created gated"] == 2


# --- denials --------------------------------------------------------------------------------


def denied(
    story: Story,
    *troubles: Trouble,
    amount: int = 1,
    cards: str = A,
    text: str = "has insufficient <x> quota",
) -> Replay:
    denial = Denial(("q", cards), amount, story.now + 10, story.now + 10.1, text)
    return replay(story.file, [denial], troubles)


def test_a_denial_is_wrong_where_there_was_room_all_the_time(story: Story) -> None:
    story.waits("a", 2).opens("a")
    assert len(denied(story).wrong) == 1
    assert denied(story, amount=2).wrong == []


@pytest.mark.parametrize("cards", [f"{A}|{B}", f"{B}|{A}"])
def test_room_for_one_of_two_cards_is_enough(story: Story, cards: str) -> None:
    story.waits("a", 3).opens("a")
    assert len(denied(story, cards=cards, amount=2).wrong) == 1
    assert denied(story, cards=cards, amount=3).wrong == []


def test_a_refusal_for_something_else_than_quota_is_wrong_room_or_not(story: Story) -> None:
    story.waits("a", 3).opens("a")
    text = "card <x> is not known: no node offers it"
    assert len(denied(story, text=text).wrong) == 1
    in_trouble = denied(story, Trouble(story.now, story.now + 10), text=text)
    assert (in_trouble.wrong, in_trouble.unjudged) == ([], 1)


def test_a_denial_is_not_wrong_just_after_room_came(story: Story) -> None:
    story.waits("a", 3).opens("a").goes("a")
    early = Denial(("q", A), 1, story.now + 1, story.now + 1.1, "insufficient")
    assert replay(story.file, [early]).wrong == []


def test_waiting_pods_of_a_queue_that_denies_count(tmp_path: Path) -> None:
    story = Story(tmp_path).queue("q", {A: 3}, "Deny").waits("a", 3)
    assert denied(story).wrong == []


@pytest.mark.parametrize(("amount", "group"), [(2, ""), (1, "nobody")])
def test_who_waits_for_something_else_is_in_nobodys_way(
    tmp_path: Path, amount: int, group: str
) -> None:
    story = Story(tmp_path).queue("q", {A: 1}, "Deny").waits("a", amount)
    if group:
        story.waits("b", amount, group=group)
        story.goes("a")
    assert len(denied(story).wrong) == 1


def test_nothing_is_said_of_a_denial_in_a_fault(story: Story) -> None:
    story.waits("a", 1).opens("a")
    seen = denied(story, Trouble(story.now, story.now + 8))
    assert (seen.wrong, seen.unjudged) == ([], 1)
    seen = denied(story, Trouble(story.now - 2, story.now, behind=8))
    assert (seen.wrong, seen.unjudged) == ([], 1)


def test_answers_that_are_late_excuse_no_denial(story: Story) -> None:
    story.waits("a", 1).opens("a")
    assert len(denied(story, Trouble(story.now, story.now + 8, old=False)).wrong) == 1

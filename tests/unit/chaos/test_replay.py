"""What stories do not tell: when a change was, what excuses it, what is missing, and denials."""

from pathlib import Path

import pytest

from chaos.clients.objects import A, B
from chaos.history import HistoryError
from chaos.judging.denials import Denial
from chaos.judging.fitting import may_stay
from chaos.judging.leeway import AFTER, TAKING_OVER, Calm, Trouble, without_a_leader
from chaos.judging.pauses import IN_CALM
from chaos.judging.starts import SOON
from chaos.replay import Replay, replay

from .story import Story


@pytest.fixture
def story(tmp_path: Path) -> Story:
    return Story(tmp_path).tell("queue q A:3,B:2")


def test_a_violation_has_its_revision(story: Story) -> None:
    (found,) = replay(story.tell("waits a 4; opens a").file).violations
    assert (found.revision, found.at) == (story.revision, story.now)


def test_nor_did_who_was_in_trouble_since_then(story: Story) -> None:
    story.tell("waits a 2; opens a; waits b; queue q A:1; pause 20; opens b")
    first = Trouble(story.now - 19, story.now - 15, behind=5)
    second = Trouble(story.now - 11, story.now - 1, old=False)
    assert replay(story.file, troubles=[first, second]).violations == []
    assert len(replay(story.file, troubles=[first]).violations) == 1
    assert len(replay(story.file).violations) == 1


def test_troubles_one_after_the_other_excuse_no_more_than_the_last_one(story: Story) -> None:
    begun = story.tell("waits a 2; opens a; waits b; queue q A:2").now
    story.tell("pause 180; opens b")
    troubles = [Trouble(begun + 12 * n, begun + 12 * n + 9) for n in range(16)]
    found = [one.what for one in replay(story.file, troubles=troubles).violations]
    assert found == [f"q holds 3 of {A}, quota 2"]


@pytest.mark.parametrize(
    ("before", "after", "why"),
    [
        ("waits a; opens a", "runs a", "follows"),
        ("waits a", "opens a", "follows 0"),
        # The one that was over the quota, perhaps.
        ("waits b 3; opens b", "goes b", "was deleted in version 2, which follows 1"),
        ("waits a", "goes a", "was deleted in version 1, which follows 0"),
    ],
)
def test_a_gap_makes_the_run_say_nothing(story: Story, before: str, after: str, why: str) -> None:
    story.tell(before).lose_last().tell(after)
    with pytest.raises(HistoryError, match=why):
        replay(story.file)


def test_counts_and_the_longest_pause(story: Story) -> None:
    since = story.tell("waits a 3; opens a; waits b; goes a").now
    for number in range(6):
        story.put("lease", "cardquota", {"metadata": {"name": str(number)}})
    seen = replay(story.tell("opens b").file)
    assert seen.pause == story.now - since
    assert seen.counts["releases"] == 2
    assert seen.counts["pods created gated"] == 2


def test_groups_that_are_enqueued_are_counted(story: Story) -> None:
    story.tell("service 3; announces g A:2; announces g A:2 A:2; pause 20; of_a_job j Pending")
    story.tell("of_a_job j Pending 2 asks=A:2; of_a_job j Inqueue 2 asks=A:2")
    counts = replay(story.file, volcano=True).counts
    assert counts["groups enqueued over what is elastic"] == 2
    assert counts["groups enqueued by Volcano, and judged"] == 1


def test_who_is_being_deleted_is_not_waited_for(story: Story) -> None:
    story.tell("waits a; pause 1; is_deleted a").pause(IN_CALM + 1)
    assert replay(story.tell("goes a; waits b").file).too_long == []
    story.pause(IN_CALM + 1)
    assert len(replay(story.tell("opens b").file).too_long) == 1


def test_a_group_that_could_be_enqueued_for_long_is_a_pause(story: Story) -> None:
    story.announces("g", {A: 2}).pause(IN_CALM + 1).announces("g", {A: 2}, {A: 2})
    (pause,) = replay(story.file).too_long
    assert pause.startswith("nothing of q was released for 11.5 s")


def test_what_may_stay_reserved(story: Story) -> None:
    """Pods are still to come, or wait for what is elastic: else it is left over."""

    def stays(text: str) -> bool:
        recount = replay(story.tell(text).file).recount
        return may_stay(recount, recount.groups["chaos/g"])

    assert not stays("service 2; announces g A:2 A:2")
    assert stays("waits a group=g")
    assert stays("waits b group=g")
    assert not stays("goes s1")


def test_elastic_are_those_that_were_bound_last(story: Story) -> None:
    story.tell("service 2; waits b 2 B group=service; opens b B; runs b chaos-1")
    assert replay(story.file).recount.elastic("q") == {A: 1, B: 2}
    assert replay(story.goes("s0").file).recount.elastic("q") == {B: 2}


def started(story: Story, *wrong: tuple[float, float], timeout: float = 300.0) -> list[str]:
    seen = replay(story.file, wrong_times=wrong, reservation_timeout=timeout)
    return [one.what for one in seen.violations]


def test_e8_one_that_lost_its_reservation_when_its_time_was_over(story: Story) -> None:
    story.tell("gang g abc 3; group g 3 reserving=3; starts a; pause 8; group g 3; pause 60")
    story.tell("queue other A:8")
    assert started(story, timeout=6) == []
    missing = ["chaos/g was started with 1 of 3"]
    assert started(story, timeout=20) == started(story) == missing


def test_what_was_wrong_meanwhile_is_no_part_of_the_time_that_it_has(story: Story) -> None:
    begun = story.tell("gang g abc 3; group g 3 reserving=3; opens a; opens b").now
    story.pause(40).opens("c")
    assert started(story, (begun, story.now - AFTER)) == []
    assert len(started(story, (begun, story.now - AFTER - SOON - 1))) == 1


def test_nor_is_a_time_without_a_leader(story: Story) -> None:
    def lease(holder: str | None) -> float:
        story.put("lease", "cardquota", {"metadata": {}, "spec": {"holderIdentity": holder}})
        return story.now

    story.tell("gang g abc 3; group g 3 reserving=3")
    renewed = lease("cardquota-0_a")
    story.tell("opens a; opens b; pause 30")
    lease(None)
    taken = lease("cardquota-1_b")
    story.pause(TAKING_OVER).opens("c")
    assert started(story) == []
    spans = without_a_leader(story.file)
    assert (min(spans)[0], max(end for _, end in spans)) == (renewed, taken + TAKING_OVER)


def test_calm_is_what_is_left_of_a_time() -> None:
    calm = Calm([(10, 20), (15, 30 - AFTER), (60, 70)])
    spans = ((0, 10), (5, 40), (15, 30), (0, 100))
    assert [calm.seconds(*one) for one in spans] == [10, 15, 0, 100 - 20 - 10 - AFTER]


def denied(
    story: Story,
    *troubles: Trouble,
    amount: int = 1,
    cards: str = A,
    text: str = "has insufficient <x> quota",
) -> Replay:
    denial = Denial(("q", cards), amount, story.now + 10, story.now + 10.1, text)
    return replay(story.file, [denial], troubles)


@pytest.mark.parametrize("cards", [A, f"{A}|{B}", f"{B}|{A}"])
def test_a_denial_is_wrong_where_any_card_had_room_all_the_time(story: Story, cards: str) -> None:
    story.tell("waits a 1; opens a; queue q A:3,B:1")
    assert len(denied(story, cards=cards, amount=2).wrong) == 1
    assert denied(story, cards=cards, amount=3).wrong == []


def test_it_is_not_just_after_room_came(story: Story) -> None:
    story.tell("waits a 3; opens a; goes a")
    early = Denial(("q", A), 1, story.now + 1, story.now + 1.1, "insufficient")
    assert replay(story.file, [early]).wrong == []


@pytest.mark.parametrize(
    ("steps", "wrong"),
    [
        ("waits a 3", 0),
        # Who waits for something else is in nobody's way.
        ("waits a 4", 1),
        ("waits a 3 group=nobody", 1),
    ],
)
def test_waiting_pods_of_a_queue_that_denies_count(tmp_path: Path, steps: str, wrong: int) -> None:
    assert len(denied(Story(tmp_path).tell(f"queue q A:3 Deny; {steps}")).wrong) == wrong


def test_nothing_is_said_of_a_denial_in_a_fault(story: Story) -> None:
    story.tell("waits a; opens a")
    for trouble in (Trouble(story.now, story.now + 8), Trouble(story.now - 2, story.now, behind=8)):
        seen = denied(story, trouble)
        assert (seen.wrong, seen.unjudged) == ([], 1)
    # Answers that are late excuse none.
    assert len(denied(story, Trouble(story.now, story.now + 8, old=False)).wrong) == 1


def test_a_refusal_for_something_else_than_quota_is_wrong_room_or_not(story: Story) -> None:
    story.tell("waits a 3; opens a")
    text = "card <x> is not known: no node offers it"
    assert len(denied(story, text=text).wrong) == 1
    in_trouble = denied(story, Trouble(story.now, story.now + 10), text=text)
    assert (in_trouble.wrong, in_trouble.unjudged) == ([], 1)

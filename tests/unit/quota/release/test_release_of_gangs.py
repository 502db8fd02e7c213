"""E2: a gang is released whole, and then one by one; T2: what its reservation holds."""

import pytest

from builders import H200, H800, a_group, a_namespace, a_queue, see
from builders.pod import PodBody
from cardquota.quota import Outcome, Reason, Reservation, Stamp, read_reservation, reservation_text
from cardquota.quota.accounts import OUTSIDE
from cardquota.quota.ledger import Ledger
from cardquota.quota.release import Opening, ReleaseJudge, Wait, judge_member
from cardquota.quota.release.cycle import openings
from cardquota.quota.reports.drift import drift

from ..releasing import (
    FIVE,
    GANG,
    QUEUE,
    a_cluster,
    cards_of,
    later,
    member,
    names,
    release,
    runs,
    two_gangs_alike,
    waiting,
)


def reserving(ledger: Ledger) -> Reservation:
    """The leader has charged a gang of `a` and `b`, and is about to write its reservation."""
    found = next(openings(ledger, "red"))
    assert isinstance(found, Opening)
    reservation = ledger.decisions.reserve("team/gang", "red", "t", found.asked)
    for record, cards in found.pods:
        ledger.decisions.assume(record.facts.uid, Stamp("red", cards, "t"))
    assert release(ledger) == ([], [])
    return reservation


def test_t2_who_comes_beyond_the_minimum_waits_until_the_reservation_is_written() -> None:
    """Else a member could be the only one that runs, and nothing be reserved for the others."""
    ledger = a_cluster(GANG, member("a"), member("b"), member("c"))
    ledger.decisions.confirm_reservation("team/gang", reserving(ledger), 5)
    assert "red" in ledger.dirty.pending.take()
    assert release(ledger)[0] == [["c"]]


def test_t2_a_reservation_says_no_more_than_can_be_read_again() -> None:
    """Of what nothing limits; else the next leader would not know that the gang has begun."""
    huge = [member(name).with_memory(str(2**63 - 1)) for name in "ab"]
    ledger = a_cluster(GANG, *huge)
    found = next(openings(ledger, "red"))
    assert isinstance(found, Opening)
    reservation = ledger.decisions.reserve("team/gang", "red", "t", found.asked)
    assert reservation.amounts == ((H200, 2), ("memory", 2**63 - 1))
    assert read_reservation(reservation_text(reservation)) == reservation


def test_i4_a_gang_of_which_some_are_on_their_way_out_waits_and_is_told() -> None:
    """A finalizer may hold one up for ever."""
    ledger = a_cluster(GANG, member("a"), member("b").terminating())
    opened, refusals = release(ledger)
    assert opened == []
    assert names(refusals) == [["a"]]
    verdict = refusals[0].verdict
    assert (verdict.outcome, verdict.reason) == (Outcome.UNSEEN, Reason.GANG_INCOMPLETE)
    assert verdict.text.startswith(
        "pod group <team/gang> needs <2> pods to start together; they exist, but of the <2> that "
        "must still be released only <1> can be in queue <red>: others are being deleted"
    )
    assert refusals[0].gang is ledger.groups["team/gang"]
    assert judge_member(ledger, ledger.pods["uid-a"]) == verdict
    see(ledger, member("c"))
    assert release(ledger)[0] == [["a", "c"]]


def test_i4_a_gang_whose_members_name_two_queues_is_told_in_each() -> None:
    blue = a_queue("blue").with_quota({H200: 3})
    others = [member(name).in_queue("blue") for name in ("b", "c")]
    ledger = a_cluster(blue, a_group().of(3), member("a"), *others)
    told = {}
    for queue in ("red", "blue"):
        opened, refusals = release(ledger, queue)
        assert opened == []
        told[queue] = [(refusal.verdict.reason, refusal.verdict.text) for refusal in refusals]
    for queue, ready in (("red", 1), ("blue", 2)):
        ((reason, text),) = told[queue]
        assert reason is Reason.GANG_INCOMPLETE
        assert f"of the <3> that must still be released only <{ready}> can be" in text
        assert f"in queue <{queue}>" in text


def test_i4_members_that_run_are_not_among_those_that_must_be_released() -> None:
    gone = member("c").terminating()
    opened, refusals = release(a_cluster(GANG.of(3), runs("a", 1), member("b"), gone))
    assert opened == []
    assert "of the <2> that must still be released only <1> can be" in refusals[0].verdict.text


def test_a_gang_waits_without_a_word_for_a_member_whose_gate_did_not_open_just_now() -> None:
    """That one has been told, and is tried again soon."""
    ledger = a_cluster(GANG, member("a"), member("b"))
    ledger.decisions.back_off("uid-a")
    assert release(ledger) == ([], [])
    see(ledger, member("a").terminating().at_revision(2))
    (refused,) = release(ledger)[1]
    assert refused.verdict.reason is Reason.GANG_INCOMPLETE


def test_a_member_of_a_gang_that_may_start_whole_is_told_nothing_by_itself() -> None:
    ledger = a_cluster(GANG, member("a"), member("b"), waiting("z", 4))
    verdict = judge_member(ledger, ledger.pods["uid-a"])
    assert (verdict.outcome, verdict.reason) == (Outcome.UNSEEN, None)
    ledger.decisions.hold_back_gang("team/gang")
    assert judge_member(ledger, ledger.pods["uid-a"]) == verdict
    assert judge_member(ledger, ledger.pods["uid-z"]).outcome is Outcome.NEVER


def test_i1_a_recount_holds_a_reservation_against_what_was_judged() -> None:
    ledger = a_cluster(GANG, member("a"), member("b"))
    assert release(ledger)[0] == [["a", "b"]]
    group = ledger.groups["team/gang"]
    assert group.assumed is not None
    more = group.assumed._replace(amounts=((H200, 9),))
    group._judged = more, group.assumed.amounts  # noqa: SLF001 - a fault that no event causes
    group.assumed = more
    ledger.repost(group)
    assert [totals[0].inqueue - totals[1].inqueue for totals in drift(ledger).values()] == [7]


def test_e2_a_lost_member_is_replaced_past_an_extra_that_does_not_fit() -> None:
    ledger = a_cluster(FIVE, GANG, runs("a"), member("extra", 4), later(member("new", 2)))
    opened, refusals = release(ledger)
    assert opened == [["new"]]
    assert names(refusals) == [["extra"]]


def test_e2_lost_members_are_replaced_together_or_not_at_all() -> None:
    three = GANG.of(3)
    new = [later(member("new-1", 2)), later(member("new-2", 2))]
    ledger = a_cluster(FIVE, three, runs("a"), member("extra", 4), *new)
    opened, refusals = release(ledger)
    assert opened == []
    assert names(refusals) == [["extra", "new-1", "new-2"]]
    see(ledger, FIVE.with_quota({H200: 6}))
    assert release(ledger)[0] == [["new-1", "new-2"]]


@pytest.mark.parametrize("dimension", ["cpu", "memory"])
def test_e2_of_members_with_as_many_cards_those_with_less_cpu_and_memory_replace_lost_ones(
    dimension: str,
) -> None:
    """Each of them would fit by itself; the first and another one do not."""

    def asking(name: str, amount: str) -> PodBody:
        pod = member(name)
        return pod.with_cpu(amount) if dimension == "cpu" else pod.with_memory(amount)

    ledger = a_cluster(QUEUE.limited_to(**{dimension: "3"}), GANG.of(3), runs("r", 1))
    see(ledger, asking("a", "3"), asking("b", "1"), asking("c", "1"))
    assert release(ledger)[0] == [["b", "c"]]


def test_e2_of_members_that_ask_for_as_much_the_first_replace_the_lost_ones() -> None:
    """In whatever order they name their cards: such are not in one class."""
    alike = member("a", 1, f"{H200}|{H800}"), member("c", 1, f"{H200}|{H800}")
    other = member("b", 1, f"{H800}|{H200}")
    ledger = a_cluster(QUEUE, GANG.of(3), runs("r", 1), member("0-extra", 9), *alike, other)
    assert release(ledger)[0][0] == ["a", "b"]


def test_t2_one_who_may_choose_leaves_what_is_reserved_to_who_may_not() -> None:
    """The other takes what is free."""
    gang = [member("a", 1, f"{H200}|{H800}"), member("b", 1)]
    quota = QUEUE.with_quota({H200: 1, H800: 1})
    begun = GANG.of(3).reserving("red", {H200: 1}), runs("r", 0)
    ledger = a_cluster(quota, *begun, *gang)
    assert release(ledger)[0] == [["a"], ["b"]]
    assert cards_of(ledger, "a", "b") == [{H800: 1}, {H200: 1}]


def test_section_9_a_gang_that_never_fits_though_each_might_is_told_so() -> None:
    held = waiting("held", 3).stamped("red", {H200: 3})
    gang = [member("a", 1), member("b", 4, H800)]
    _, refusals = release(a_cluster(GANG, held, *gang))
    assert refusals[0].verdict.outcome is Outcome.NEVER
    assert "at most ," not in refusals[0].verdict.text


@pytest.mark.parametrize("deletion_seen", [True, False])
def test_e8_a_gang_made_again_has_not_lost_its_place(deletion_seen: bool) -> None:
    ledger = a_cluster(GANG, member("a"), member("b"))
    ledger.decisions.lose_place("team/gang")
    if deletion_seen:
        ledger.group_gone("team/gang")
    see(ledger, GANG.with_uid("another").at_revision(9))
    assert not ledger.groups["team/gang"].lost_place


def test_e8_a_gang_that_lost_its_place_goes_behind_those_who_fit() -> None:
    """Of its own priority; and before them again once it has begun."""
    ledger = a_cluster(QUEUE.with_quota({H200: 2}), *two_gangs_alike())
    ledger.decisions.lose_place("team/g1")
    assert release(ledger)[0] == [["g2-a", "g2-b"]]
    ledger.decisions.lose_place("team/nowhere")
    for name in ("g2-a", "g2-b"):
        ledger.pod_gone(f"uid-{name}")
    ledger.group_gone("team/g2")
    assert release(ledger)[0] == [["g1-a", "g1-b"]]
    assert not ledger.groups["team/g1"].lost_place


def test_e2_of_a_group_made_again_nothing_opens_while_members_are_charged_for_the_former() -> None:
    """Their reservation is not written, and never will be: they do not run."""
    blue = a_queue("blue").with_quota({H200: 8})
    a, b, c = (member(name).in_queue(None) for name in "abc")
    ledger = a_cluster(QUEUE, blue, GANG, a, b)
    found = next(openings(ledger, "red"))
    assert isinstance(found, Opening)
    reservation = ledger.decisions.reserve("team/gang", "red", "term-1", found.asked)
    stamps = {record.facts.uid: Stamp("red", cards, "term-1") for record, cards in found.pods}
    for uid, stamp in stamps.items():
        ledger.decisions.assume(uid, stamp)
    ledger.group_gone("team/gang")
    see(ledger, GANG.in_queue("blue").with_uid("another"), c)
    assert release(ledger, queue="blue")[0] == []
    for uid, stamp in stamps.items():
        ledger.decisions.retract(uid, stamp)
    assert release(ledger, queue="blue")[0] == []
    ledger.dirty.pending.take()
    ledger.decisions.retract_reservation("team/gang", reservation)
    assert "blue" in ledger.dirty.pending.take()
    assert release(ledger, queue="blue")[0] == [["a", "b"], ["c"]]


def test_in_audit_mode_a_member_that_cannot_be_read_holds_up_no_other() -> None:
    """Nothing is enforced there: nobody waits for the others of a gang."""
    audited = a_namespace("team").in_mode("audit")
    large = waiting("a-large").in_group("gang").naming("A" * 20_000)
    ledger = a_cluster(audited, GANG, large, member("b"), member("c"))
    opened, refusals = release(ledger, OUTSIDE)
    assert opened == [["b"], ["c"]]
    assert names(refusals) == [["a-large"]]
    assert refusals[0].verdict.reason is Reason.INVALID_CARD


def test_a_gang_that_is_held_back_is_not_tried_before_it_is_put_back() -> None:
    """As a whole: whatever other members it has, and whatever becomes of it meanwhile."""
    ledger = a_cluster(GANG, member("a"), member("b"), member("c"))
    ledger.decisions.hold_back_gang("team/gang")
    ledger.decisions.hold_back_gang("team/unknown")
    see(ledger, member("d"))
    assert release(ledger) == ([], [])
    see(ledger, waiting("other"))
    assert release(ledger)[0] == [["other"]]
    ledger.dirty.pending.take()
    ledger.decisions.put_back_gang("team/gang", "red")
    assert "red" in ledger.dirty.pending.take()
    assert release(ledger)[0] == [["a", "b"]]


def test_at_the_end_of_a_term_no_gang_is_held_back() -> None:
    ledger = a_cluster(GANG, member("a"), member("b"))
    ledger.decisions.hold_back_gang("team/gang")
    list(ledger.decisions.end_term_in_steps())
    assert release(ledger)[0] == [["a", "b"]]


def test_e2_a_candidate_of_a_gang_that_has_begun_is_judged_no_more_as_a_whole() -> None:
    """Its pending queue has yet to hear of that."""
    ledger = a_cluster(GANG, member("a"), member("b"))
    account = ledger.account("red")
    assert account is not None
    while account.pending.refresh(ledger.epoch, account.limit):
        pass
    candidate = account.pending.active.first()
    assert candidate is not None
    reservation = ledger.decisions.reserve("team/gang", "red", "term-1", ((H200, 2),))
    ledger.decisions.confirm_reservation("team/gang", reservation, 9)
    ledger.decisions.assume("uid-b", Stamp("red", ((H200, 1),), "term-1"))
    found = ReleaseJudge(ledger, account).judge(candidate)
    assert isinstance(found, Wait)
    assert found.verdict.outcome is Outcome.UNSEEN

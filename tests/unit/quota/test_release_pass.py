"""E6: whose gate opens next. A job that waits for one model never holds up another."""

import pytest

from builders import CARDS, H200, H800, Body, a_group, a_ledger, a_namespace, a_pod, a_queue, see
from builders.pod import PodBody
from cardquota.quota.ledger import Ledger
from cardquota.quota.release_judge import ReleaseJudge
from cardquota.quota.release_pass import Opening, Refusal, openings
from cardquota.quota.stamp import Reservation, Stamp
from cardquota.quota.vocabulary import Reason

QUEUE = a_queue("red").with_quota({H200: 3, H800: 3})


def a_cluster(*things: Body, **settings: bool) -> Ledger:
    return a_ledger(*CARDS, QUEUE, *things, **settings)


def waiting(name: str, cards: int = 1, card: str = H200) -> PodBody:
    return a_pod(name).in_queue("red").naming(card).asking_for(cards).gated()


def release(ledger: Ledger, queue: str = "red") -> tuple[list[list[str]], list[Refusal]]:
    """Charge all that may be opened, as the release door does: the names, and who waits on."""
    opened, refusals = [], []
    for found in openings(ledger, queue):
        if isinstance(found, Refusal):
            refusals.append(found)
            continue
        if found.gang is not None:
            ledger.reserve(found.gang.key, Reservation(found.queue, "t", found.reservation))
        for record, cards in found.pods:
            ledger.assume(record.facts.uid, Stamp(found.queue, cards, "t"))
        opened.append([record.facts.name for record, _ in found.pods])
    return opened, refusals


def names(refusals: list[Refusal]) -> list[list[str]]:
    return [[record.facts.name for record in refusal.pods] for refusal in refusals]


def test_gates_open_in_order_while_they_fit() -> None:
    ledger = a_cluster(waiting("b"), waiting("a"), waiting("c"), waiting("d"))
    opened, refusals = release(ledger)
    assert opened == [["a"], ["b"], ["c"]]
    assert names(refusals) == [["d"]]
    assert refusals[0].verdict.reason is Reason.INSUFFICIENT_CARD


def test_e6_priority_class_then_creation_then_name() -> None:
    late = waiting("a-late").created("2026-02-01T00:00:00Z")
    high = waiting("z-high").created("2026-03-01T00:00:00Z").with_priority(10)
    opened, _ = release(a_cluster(late, waiting("early"), high))
    assert opened == [["z-high"], ["early"], ["a-late"]]


def test_e6_the_order_holds_among_different_requests() -> None:
    ledger = a_cluster(waiting("a"), waiting("b", 2), waiting("c"))
    assert release(ledger)[0] == [["a"], ["b"]]


def test_e6_a_job_that_waits_for_one_model_holds_up_no_other() -> None:
    ledger = a_cluster(
        waiting("a-big", 3), waiting("b", 3, H800), waiting("holds").stamped("red", {H200: 1})
    )
    opened, refusals = release(ledger)
    assert opened == [["b"]]
    assert names(refusals) == [["a-big"]]


def test_traverse_lets_a_smaller_request_pass() -> None:
    ledger = a_cluster(waiting("held", 2).stamped("red", {H200: 2}), waiting("a", 2), waiting("b"))
    assert release(ledger)[0] == [["b"]]


def test_fifo_holds_up_those_behind_that_want_the_same_card_and_no_others() -> None:
    ledger = a_cluster(
        QUEUE.fifo(),
        waiting("held", 2).stamped("red", {H200: 2}),
        waiting("a", 2),
        waiting("b"),
        waiting("c", 1, f"{H800}|{H200}"),
        waiting("d", 1, H800),
    )
    assert release(ledger)[0] == [["d"]]


def test_alternatives_are_taken_in_the_users_order() -> None:
    ledger = a_cluster(waiting("held", 3).stamped("red", {H200: 3}))
    see(ledger, waiting("a", 2, f"{H200}|{H800}"))
    found = next(openings(ledger, "red"))
    assert isinstance(found, Opening)
    assert found.pods[0][1] == ((H800, 2),)


def test_e6_a_pod_of_a_namespace_that_is_kept_out_holds_up_no_other() -> None:
    ledger = a_cluster(
        QUEUE.open_to("team"), waiting("a-kept-out").in_namespace("other"), waiting("b")
    )
    opened, refusals = release(ledger)
    assert opened == [["b"]]
    assert names(refusals) == [["a-kept-out"]]


def test_e6_a_pod_whose_group_never_comes_holds_up_no_other() -> None:
    ledger = a_cluster(
        a_group("there").in_queue("red"),
        waiting("a").in_group("missing"),
        waiting("b").in_group("there"),
        waiting("c").in_group("missing too"),
    )
    opened, refusals = release(ledger)
    assert opened == [["b"]]
    assert [r.verdict.reason for r in refusals] == [Reason.GROUP_NOT_FOUND] * 2
    assert "team/missing too" in refusals[1].verdict.text


def test_e6_a_pod_that_was_edited_wrong_holds_up_no_other() -> None:
    wrong, right = waiting("a").asking_for("-1"), a_pod("b").in_queue("red").gated()
    ledger = a_cluster(wrong.naming(None), right)
    assert release(ledger)[0] == [["b"]]


def test_e6_a_pod_that_disagrees_with_its_group_holds_up_no_other() -> None:
    ledger = a_cluster(
        a_group("one").in_queue("red"),
        waiting("a").in_queue("blue").in_group("one"),
        waiting("b").in_queue("red").in_group("one"),
        waiting("c").in_queue(None).in_group("one"),
    )
    opened, refusals = release(ledger)
    assert opened == [["b"], ["c"]]
    assert names(refusals) == [["a"]]


def test_each_is_told_what_is_wrong_with_its_own_text() -> None:
    ledger = a_cluster(waiting("a", card="one||"), waiting("b", card="two||"))
    texts = {r.pods[0].facts.name: r.verdict.text for r in release(ledger)[1]}
    assert "one||" in texts["a"]
    assert "two||" in texts["b"]


# --- gangs --------------------------------------------------------------------------------------

GANG = a_group().in_queue("red").of(2)


def member(name: str, cards: int = 1, card: str = H200) -> PodBody:
    return waiting(name, cards, card).in_group("gang")


def test_e2_a_gang_is_released_whole_and_the_rest_one_by_one() -> None:
    ledger = a_cluster(GANG, member("c"), member("a"), member("b"), member("d"))
    opened, refusals = release(ledger)
    assert opened == [["a", "b"], ["c"]]
    assert names(refusals) == [["d"]]


def test_t2_its_minimum_is_reserved_before_its_first_gate_opens() -> None:
    ledger = a_cluster(GANG, member("a").with_cpu("1"), member("b", 1, H800))
    found = next(openings(ledger, "red"))
    assert isinstance(found, Opening)
    assert found.gang is ledger.groups["team/gang"]
    assert found.reservation == ((H200, 1), (H800, 1), ("cpu", 1_000))


def test_e2_a_gang_that_does_not_fit_whole_waits_whole() -> None:
    ledger = a_cluster(GANG, member("a", 2), member("b", 2, H200), waiting("z"))
    opened, refusals = release(ledger)
    assert opened == [["z"]]
    assert names(refusals) == [["a", "b"]]
    assert refusals[0].gang is ledger.groups["team/gang"]


def test_a_gang_that_is_not_complete_waits_and_is_told() -> None:
    ledger = a_cluster(GANG, member("a"))
    opened, refusals = release(ledger)
    assert opened == []
    assert refusals[0].verdict.reason is Reason.GANG_INCOMPLETE
    see(ledger, member("b"))
    assert release(ledger)[0] == [["a", "b"]]


def test_a_gang_of_which_some_are_on_their_way_out_waits() -> None:
    ledger = a_cluster(GANG, member("a"), member("b").terminating())
    assert release(ledger) == ([], [])


def test_members_that_run_already_count_for_the_minimum_and_the_reservation() -> None:
    runs = member("runs").stamped("red", {H800: 1}).on_node("h800-a")
    ledger = a_cluster(GANG, runs, member("a"))
    found = next(openings(ledger, "red"))
    assert isinstance(found, Opening)
    assert [record.facts.name for record, _ in found.pods] == ["a"]
    assert found.reservation == ((H200, 1), (H800, 1))


def test_a_member_that_has_succeeded_counts_for_the_minimum_until_it_is_gone() -> None:
    done = member("done").in_phase("Succeeded")
    ledger = a_cluster(GANG, done, member("next"))
    assert release(ledger)[0] == [["next"]]
    ledger = a_cluster(GANG, done, member("next"))
    ledger.pod_gone("uid-done")
    opened, refusals = release(ledger)
    assert opened == []
    assert refusals[0].verdict.reason is Reason.GANG_INCOMPLETE


def test_a_member_that_has_failed_is_waited_for_again() -> None:
    failed = member("failed").in_phase("Failed")
    opened, refusals = release(a_cluster(GANG, failed, member("again")))
    assert opened == []
    assert refusals[0].verdict.reason is Reason.GANG_INCOMPLETE


def test_fifo_is_not_held_up_by_what_can_never_fit() -> None:
    ledger = a_cluster(QUEUE.fifo(), waiting("a-never", 5), waiting("b"))
    assert release(ledger)[0] == [["b"]]


def test_a_gang_that_has_started_is_continued_by_its_reservation() -> None:
    ledger = a_cluster(GANG.reserving("red", {H200: 3}), member("a"), waiting("z"))
    opened, refusals = release(ledger)
    assert opened == [["a"]]
    assert names(refusals) == [["z"]]


def test_a_pod_of_a_group_that_is_no_gang_goes_alone() -> None:
    assert release(a_cluster(GANG.of(1), member("a")))[0] == [["a"]]


# --- modes, queues ------------------------------------------------------------------------------


@pytest.mark.parametrize("mode", ["audit", "off"])
def test_audit_holds_nobody_up(mode: str) -> None:
    ledger = a_cluster(a_namespace("lax").in_mode(mode))
    see(ledger, waiting("a", 9).in_namespace("lax").with_cpu("1"), waiting("b", 9))
    opened, refusals = release(ledger)
    assert opened == [["a"]]
    assert names(refusals) == [["b"]]
    account = ledger.account("red")
    assert account is not None
    assert account.row(H200).inqueue == 9


def test_a_queue_that_nobody_knows_has_nothing_to_open() -> None:
    assert release(a_cluster(), "unknown") == ([], [])


def test_who_waits_in_a_queue_that_is_gone_is_told() -> None:
    ledger = a_cluster(waiting("a"))
    ledger.queue_gone("red")
    _, refusals = release(ledger)
    assert refusals[0].verdict.reason is Reason.QUEUE_NOT_FOUND


def test_one_that_has_been_told_is_not_told_again() -> None:
    ledger = a_cluster(waiting("a", 9))
    assert len(release(ledger)[1]) == 1
    assert release(ledger)[1] == []


def test_e6_a_group_lends_its_priority_class_to_its_pods() -> None:
    urgent = a_group("urgent").in_queue("red").put("high", "spec", "priorityClassName")
    ledger = a_cluster(urgent, waiting("a", 3), waiting("b", 3).in_group("urgent"))
    ledger.priority_class_seen("high", 100)
    ledger.priority_class_seen("high", 100)
    assert release(ledger)[0] == [["b"]]
    ledger.retract("uid-b")
    ledger.priority_class_gone("high")
    ledger.priority_class_gone("high")
    assert release(ledger)[0] == [["a"]]


def test_e6_the_higher_of_a_pods_and_its_groups_priority_counts() -> None:
    group = a_group("low").in_queue("red").put("low", "spec", "priorityClassName")
    ledger = a_cluster(group, waiting("a", 3), waiting("b", 3).in_group("low").with_priority(5))
    ledger.priority_class_seen("low", -10)
    assert release(ledger)[0] == [["b"]]


# --- gangs of unlike members --------------------------------------------------------------------

FIVE = QUEUE.with_quota({H200: 5})


def runs(name: str, cards: int = 2) -> PodBody:
    return member(name, cards).stamped("red", {H200: cards}).on_node("h200-a")


def later(pod: PodBody) -> PodBody:
    return pod.created("2026-02-01T00:00:00Z")


def test_e2_the_rest_of_a_gang_goes_one_by_one_whatever_their_sizes() -> None:
    ledger = a_cluster(FIVE, GANG, runs("a"), runs("b"), member("c", 4), later(member("d")))
    opened, refusals = release(ledger)
    assert opened == [["d"]]
    assert names(refusals) == [["c"]]


def test_e2_what_can_never_fit_holds_up_no_other_member() -> None:
    ledger = a_cluster(FIVE, GANG, runs("a"), runs("b"), member("c", 9), later(member("d")))
    assert release(ledger)[0] == [["d"]]


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


def test_e2_a_lost_member_is_replaced_once_there_is_room_past_what_never_fits() -> None:
    held = waiting("held", 2).stamped("red", {H200: 2})
    ledger = a_cluster(FIVE, GANG, held, runs("a"), member("extra", 9), later(member("new", 2)))
    assert release(ledger)[0] == []
    ledger.pod_gone("uid-held")
    assert release(ledger)[0] == [["new"]]


def test_e2_a_gang_that_has_not_begun_starts_with_its_first_members_or_not() -> None:
    gang = [member("a", 4), later(member("b", 2)), later(member("c", 2))]
    opened, refusals = release(a_cluster(FIVE, GANG, *gang))
    assert opened == []
    assert names(refusals) == [["a", "b", "c"]]


# --- what holds up a fifo queue, and what does not ----------------------------------------------


def test_fifo_is_not_held_up_by_who_waits_for_a_group_that_never_comes() -> None:
    ledger = a_cluster(QUEUE.fifo(), waiting("a").in_group("typo"), waiting("b"))
    assert release(ledger)[0] == [["b"]]


def test_fifo_is_not_held_up_by_a_gang_that_is_not_complete() -> None:
    ledger = a_cluster(QUEUE.fifo(), GANG, member("a"), waiting("b"))
    assert release(ledger)[0] == [["b"]]


def test_fifo_is_held_up_by_a_gang_that_does_not_fit() -> None:
    held = waiting("held", 2).stamped("red", {H200: 2})
    queue = FIVE.fifo()
    ledger = a_cluster(queue, GANG, held, member("a", 2), member("b", 2), waiting("c"))
    assert release(ledger)[0] == []


def test_a_namespace_that_goes_to_audit_lets_those_who_wait_go() -> None:
    ledger = a_cluster(a_namespace().in_mode("enforced"), waiting("a", 9))
    assert release(ledger)[0] == []
    ledger.news.take_stirred()
    see(ledger, a_namespace().in_mode("audit").at_revision(2))
    assert ledger.news.take_stirred() == {"red"}
    assert release(ledger)[0] == [["a"]]


def test_a_group_that_becomes_a_gang_while_its_pods_wait_starts_whole() -> None:
    reserved = a_group().in_queue("red").reserving("red", {})
    ledger = a_cluster(reserved.of(1), member("a", 2), member("b", 2))
    see(ledger, a_group().in_queue("red").of(2).at_revision(2))
    opened, refusals = release(ledger)
    assert opened == []
    assert names(refusals) == [["a", "b"]]


# --- what is noted of those who wait, and what wakes them ---------------------------------------


def test_a_gang_hears_of_a_member_that_came_past_the_gate() -> None:
    ledger = a_cluster(GANG, member("a"))
    assert release(ledger)[0] == []
    see(ledger, runs("b", 1))
    assert release(ledger)[0] == [["a"]]


def test_a_gang_hears_of_a_member_that_has_succeeded() -> None:
    ledger = a_cluster(GANG, member("a"))
    assert release(ledger)[0] == []
    see(ledger, member("b").in_phase("Succeeded"))
    assert release(ledger)[0] == [["a"]]


def test_an_extra_starts_with_the_others_again_once_the_minimum_is_lost() -> None:
    ledger = a_cluster(FIVE, GANG, runs("a"), runs("b"), member("extra", 4), member("more", 1))
    assert release(ledger)[0] == [["more"]]
    ledger.retract("uid-more")
    ledger.pod_gone("uid-a")
    ledger.pod_gone("uid-b")
    assert release(ledger)[0] == [["extra", "more"]]


@pytest.mark.parametrize("freed", [1, 2])
def test_who_waits_for_room_goes_as_soon_as_there_is_as_much(freed: int) -> None:
    held = waiting("held", 3).stamped("red", {H200: 3})
    ledger = a_cluster(held, waiting("a", 2), waiting("b", 1))
    assert release(ledger)[0] == []
    see(ledger, waiting("held", 3).stamped("red", {H200: 3 - freed}).at_revision(2))
    assert release(ledger)[0] == ([["a"]] if freed == 2 else [["b"]])


def test_a_gang_with_a_choice_goes_when_any_of_its_cards_is_free() -> None:
    held = waiting("held", 3).stamped("red", {H200: 3}), waiting("too").stamped("red", {H800: 2})
    gang = [member("a", 1, f"{H800}|{H200}"), member("b", 1, H800)]
    ledger = a_cluster(GANG, *held, *gang)
    assert release(ledger)[0] == []
    see(ledger, waiting("held", 3).stamped("red", {H200: 2}).at_revision(2))
    assert release(ledger)[0] == []  # members take the first alternative that fits, in turn
    see(ledger, waiting("too").stamped("red", {H800: 1}).at_revision(2))
    assert release(ledger)[0] == [["a", "b"]]


def test_who_lacks_something_else_now_is_told_so() -> None:
    queue = QUEUE.limited_to(cpu="1")
    ledger = a_cluster(queue, waiting("held", 3).with_cpu("1").stamped("red", {H200: 3}))
    see(ledger, waiting("a").with_cpu("1"), waiting("b").with_cpu("1"))
    assert [r.verdict.reason for r in release(ledger)[1]] == [Reason.INSUFFICIENT_CARD]
    see(ledger, waiting("held", 3).with_cpu("1").stamped("red", {H200: 1}).at_revision(2))
    _, refusals = release(ledger)
    assert [r.verdict.reason for r in refusals] == [Reason.INSUFFICIENT_CPU]
    assert names(refusals) == [["a", "b"]]


def test_a_decision_looks_at_those_alone_for_whom_there_is_room(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Whatever number of unlike pods and gangs waits."""
    held = waiting("held", 3).stamped("red", {H200: 3})
    ledger = a_cluster(held)
    for n in range(100):
        see(ledger, waiting(f"p{n:02}").with_cpu(f"{n}m"), a_group(f"g{n}").in_queue("red").of(2))
        see(ledger, *(waiting(f"g{n}-{x}").in_group(f"g{n}").with_cpu(f"{n}m") for x in "ab"))
    assert len(release(ledger)[1]) == 200
    looked: list[object] = []
    judge = ReleaseJudge.judge
    monkeypatch.setattr(
        ReleaseJudge, "judge", lambda self, one: (looked.append(one), judge(self, one))[1]
    )
    assert release(ledger) == ([], [])
    assert looked == []
    see(ledger, waiting("held", 3).stamped("red", {H200: 2}).at_revision(2))
    assert len(release(ledger)[0]) == 1
    assert len(looked) <= 3


def test_an_opening_that_is_not_charged_ends_the_pass() -> None:
    ledger = a_cluster(waiting("a"), waiting("b", 2))
    assert len(list(openings(ledger, "red"))) == 1
    assert release(ledger)[0] == [["a"], ["b"]]


def test_a_pass_that_is_left_loses_nobody() -> None:
    ledger = a_cluster(*(waiting(f"p{n}", 4 + n) for n in range(5)))
    told = [next(iter(openings(ledger, "red"))) for _ in range(5)]
    assert names([r for r in told if isinstance(r, Refusal)]) == [[f"p{n}"] for n in range(5)]
    assert release(ledger) == ([], [])


# --- fifo: who is held up is told by whom --------------------------------------------------------


def test_fifo_tells_those_behind_whom_they_wait_for() -> None:
    held = waiting("held", 2).stamped("red", {H200: 2})
    ledger = a_cluster(QUEUE.fifo(), held, waiting("a", 2), waiting("b"))
    _, refusals = release(ledger)
    assert names(refusals) == [["a"], ["b"]]
    assert refusals[1].verdict.reason is Reason.BEHIND
    assert "the pod waits behind <team/a>" in refusals[1].verdict.text
    see(ledger, waiting("c"))
    assert names(release(ledger)[1]) == [["c"]]
    ledger.pod_gone("uid-a")
    assert release(ledger)[0] == [["b"]]


def test_fifo_goes_on_in_order_when_there_is_room() -> None:
    held = waiting("held", 3).stamped("red", {H200: 3})
    line = [waiting(f"p{n}", 1 + n % 2) for n in range(4)]
    ledger = a_cluster(QUEUE.fifo(), held, *line)
    assert release(ledger)[0] == []
    ledger.pod_gone("uid-held")
    assert release(ledger)[0] == [["p0"], ["p1"]]
    ledger.pod_gone("uid-p1")
    assert release(ledger)[0] == [["p2"]]


def two_gangs_alike() -> list[Body]:
    found: list[Body] = []
    for gang in ("g1", "g2"):
        found.append(a_group(gang).in_queue("red").of(2))
        found += [waiting(f"{gang}-{half}").in_group(gang) for half in "ab"]
    return found


@pytest.mark.parametrize("queue", [QUEUE.with_quota({H200: 4}), QUEUE.with_quota({H200: 4}).fifo()])
def test_gangs_alike_go_one_after_the_other_as_room_comes(queue: Body) -> None:
    ledger = a_cluster(queue, waiting("held", 3).stamped("red", {H200: 3}), *two_gangs_alike())
    assert release(ledger)[0] == []
    see(ledger, waiting("held", 3).stamped("red", {H200: 2}).at_revision(2))
    assert release(ledger)[0] == [["g1-a", "g1-b"]]
    ledger.pod_gone("uid-held")
    assert release(ledger)[0] == [["g2-a", "g2-b"]]


def test_fifo_gangs_alike_go_in_one_pass_when_there_is_room_for_both() -> None:
    queue = QUEUE.with_quota({H200: 4}).fifo()
    ledger = a_cluster(queue, waiting("held", 3).stamped("red", {H200: 3}), *two_gangs_alike())
    assert release(ledger)[0] == []
    ledger.pod_gone("uid-held")
    assert release(ledger)[0] == [["g1-a", "g1-b"], ["g2-a", "g2-b"]]


def test_fifo_those_behind_stay_behind_when_too_little_comes() -> None:
    queue = QUEUE.with_quota({H200: 4}).fifo()
    held = waiting("held", 4).stamped("red", {H200: 4})
    ledger = a_cluster(queue, held, *two_gangs_alike(), waiting("z"))
    assert release(ledger)[0] == []
    see(ledger, waiting("held", 4).stamped("red", {H200: 3}).at_revision(2))
    assert release(ledger) == ([], [])


def test_a_gang_that_leaves_its_shelf_leaves_the_others_there() -> None:
    ledger = a_cluster(waiting("held", 3).stamped("red", {H200: 3}), *two_gangs_alike())
    assert release(ledger)[0] == []
    ledger.pod_gone("uid-g1-a")
    ledger.pod_gone("uid-held")
    opened, refusals = release(ledger)
    assert opened == [["g2-a", "g2-b"]]
    assert [r.verdict.reason for r in refusals] == [Reason.GANG_INCOMPLETE]


def test_one_that_is_held_back_is_passed_over_until_it_is_put_back() -> None:
    ledger = a_cluster(waiting("a"), waiting("b"))
    for found in openings(ledger, "red"):
        assert isinstance(found, Opening)
        ((record, cards),) = found.pods
        if record.facts.name == "a":
            ledger.hold_back("uid-a")
        else:
            ledger.assume("uid-b", Stamp("red", cards, "t"))
    assert release(ledger) == ([], [])
    ledger.put_back("uid-a")
    assert release(ledger)[0] == [["a"]]


def test_who_lacks_cpu_lets_those_behind_have_the_card() -> None:
    queue = QUEUE.limited_to(cpu="2")
    held = waiting("held", 3).with_cpu("1").stamped("red", {H200: 3})
    ledger = a_cluster(queue, held, waiting("a").with_cpu("2"), waiting("b").with_cpu("1"))
    assert release(ledger)[0] == []
    see(ledger, waiting("held", 3).with_cpu("1").stamped("red", {H200: 2}).at_revision(2))
    opened, refusals = release(ledger)
    assert opened == [["b"]]
    assert [r.verdict.reason for r in refusals] == [Reason.INSUFFICIENT_CPU]

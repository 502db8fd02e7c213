"""E1: a group is enqueued before its pods are there; T2, E8: what it reserves, and for how long."""

import pytest

from builders import H200, H800, R4090, a_group, a_namespace, a_pod, a_queue, see
from builders.group import GroupBody
from builders.pod import PodBody
from cardquota.quota import Outcome, Reason
from cardquota.quota.decisions import judge_create
from cardquota.quota.ledger import Ledger
from cardquota.quota.release import Opening
from cardquota.quota.release.cycle import openings
from cardquota.quota.reports.drift import drift

from ..releasing import FIVE, QUEUE, a_cluster, names, release, waiting

GROUP = a_group("train").in_queue("red").of(2)
KEY = "team/train"


def asking(name: str, number: int, card: str = H200) -> GroupBody:
    return a_group(name).in_queue("red").of(2).asking({card: number})


def inqueue(ledger: Ledger, dimension: str, queue: str = "red") -> int:
    account = ledger.account(queue)
    return account.row(dimension).inqueue if account else 0


def elastic_pods(number: int, cards: int = 1) -> list[PodBody]:
    """Bound members of a group of one: all but the first are elastic."""
    return [
        a_pod(f"e{n}")
        .in_queue("red")
        .in_group("service")
        .naming(H200)
        .asking_for(cards)
        .stamped("red", {H200: cards})
        .on_node("h200-a")
        for n in range(number)
    ]


SERVICE = a_group("service").in_queue("red").of(1)


# --- E6: whose turn is first ----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("named", "listed", "first"),
    [
        ("high", (), "team/z"),
        ("high", ("high",), "team/z"),
        ("high", ("other",), "team/a"),
        ("system-node-critical", (), "team/a"),
        ("system-node-critical", ("system-node-critical",), "team/a"),
        ("unknown", (), "team/a"),
    ],
)
def test_e6_a_group_without_pods_has_the_priority_of_the_class_it_names_if_that_counts(
    named: str, listed: tuple[str, ...], first: str
) -> None:
    late = asking("z", 3).put(named, "spec", "priorityClassName")
    ledger = a_cluster(asking("a", 3), late, group_priority_classes=listed)
    ledger.priority_class_seen("high", 100)
    ledger.priority_class_seen("system-node-critical", 2_000_001_000)
    assert release(ledger)[0] == [[first]]


def test_e6_once_it_has_pods_their_priority_counts_and_not_its_class() -> None:
    late = asking("z", 3).of(2).put("high", "spec", "priorityClassName")
    pod = a_pod("p").in_group("z").in_queue("red").naming(H200).asking_for(1).gated()
    ledger = a_cluster(asking("a", 3), late, pod.with_priority(-1))
    ledger.priority_class_seen("high", 100)
    assert release(ledger)[0] == [["team/a"]]
    ledger = a_cluster(asking("a", 3), late, pod)
    ledger.priority_class_seen("high", 100)
    ledger.pod_gone(pod.uid)
    assert release(ledger)[0] == [["team/z"]]


def test_e8_a_namespace_that_goes_last_asks_after_all_others_and_while_it_is_held_not_at_all() -> (
    None
):
    high = asking("a", 3).put("high", "spec", "priorityClassName")
    other = asking("z", 3).in_namespace("other")
    ledger = a_cluster(high, other)
    ledger.priority_class_seen("high", 100)
    for held, first in ((True, "other/z"), (False, "other/z"), (None, "team/a")):
        ledger.put_last("red", "team", held=held)
        found = next(openings(ledger, "red"))
        assert isinstance(found, Opening)
        assert found.gang is not None
        assert found.gang.key == first
    ledger.group_gone("other/z")
    ledger.put_last("red", "team", held=True)
    assert release(ledger)[0] == []
    ledger.put_last("red", "team", held=False)
    assert release(ledger)[0] == [["team/a"]]


def test_e1_cpu_and_memory_of_min_resources_count_too() -> None:
    queue = QUEUE.limited_to(cpu="4", memory="8Gi")
    fits = a_group("a").in_queue("red").of(2).asking({}, cpu="3", memory="1Gi")
    waits = a_group("b").in_queue("red").of(2).asking({H200: 1}, cpu="2")
    ledger = a_cluster(queue, fits, waits)
    opened, refusals = release(ledger)
    assert opened == [["team/a"]]
    assert refusals[0].verdict.reason is Reason.INSUFFICIENT_CPU
    assert inqueue(ledger, "cpu") == 3_000


# --- E1 -------------------------------------------------------------------------------------------


def test_e1_of_a_choice_only_cards_with_a_quota_are_reserved() -> None:
    either = a_group("either").in_queue("red").of(2).asking({f"{R4090}|{H800}": 1, H800: 1})
    ledger = a_cluster(either)
    assert release(ledger)[0] == [["team/either"]]
    reservation = ledger.groups["team/either"].reservation
    assert reservation is not None
    assert reservation.amounts == ((H800, 2),)


def test_e1_elastic_makes_room_for_a_reservation_and_never_for_a_gate() -> None:
    members = [waiting(f"m{n}").in_group("train") for n in range(2)]
    ledger = a_cluster(FIVE, SERVICE, *elastic_pods(5), GROUP.asking({H200: 2}))
    assert release(ledger)[0] == [[KEY]]
    assert inqueue(ledger, H200) == 2
    see(ledger, GROUP.asking({H200: 2}).enqueued("red", {H200: 2}, "t").at_revision(200), *members)
    opened, refusals = release(ledger)
    assert opened == []
    assert names(refusals) == [["m0", "m1"]]
    account = ledger.account("red")
    assert account is not None
    assert account.overcommitted([H200])
    ledger.pod_gone("uid-e4")
    assert release(ledger)[0] == []
    ledger.pod_gone("uid-e3")
    assert not account.overcommitted([H200, "cpu"])
    assert release(ledger)[0] == [["m0", "m1"]]
    assert inqueue(ledger, H200) == 2
    assert drift(ledger) == {}


@pytest.mark.parametrize(
    ("group", "reason", "says"),
    [
        (GROUP.asking("[]"), Reason.INVALID_CARD, "card.request cannot be read: it is a list"),
        (GROUP.asking({H200: 4}), Reason.INSUFFICIENT_CARD, "can never fit"),
        (GROUP.asking({R4090: 1}), Reason.CARD_NOT_IN_QUOTA, f"<{R4090}>"),
        (GROUP.asking({"OTHER": 1}), Reason.INVALID_CARD, "<OTHER>"),
        (GROUP.in_queue("none").asking({H200: 1}), Reason.QUEUE_NOT_FOUND, "<none>"),
    ],
)
def test_e5_what_never_fits_is_told_and_reserves_nothing(
    group: GroupBody, reason: Reason, says: str
) -> None:
    ledger = a_cluster(group)
    queue = "none" if reason is Reason.QUEUE_NOT_FOUND else "red"
    opened, refusals = release(ledger, queue)
    assert opened == []
    assert refusals[0].verdict.reason is reason
    assert refusals[0].verdict.outcome is Outcome.NEVER
    assert says in refusals[0].verdict.text or says == "can never fit"
    assert release(ledger, queue) == ([], [])
    assert drift(ledger) == {}


def test_q6_a_closed_queue_enqueues_nothing_until_it_is_open() -> None:
    ledger = a_cluster(QUEUE.closed(), asking("a", 1))
    assert release(ledger)[1][0].verdict.reason is Reason.QUEUE_NOT_OPEN
    see(ledger, QUEUE)
    assert release(ledger)[0] == [["team/a"]]


# --- who asks -------------------------------------------------------------------------------------


def waits_to_be_enqueued(ledger: Ledger, key: str = KEY) -> bool:
    account = ledger.account("red")
    return account is not None and any(group.key == key for group in account.pending.groups)


def test_e1_while_a_reservation_is_written_its_pods_alone_wait_for_it() -> None:
    """Not others that ask for the same: until then they waited together."""
    service = SERVICE.asking({H200: 2})
    ledger = a_cluster(service, waiting("a").in_group("service"), waiting("b"))
    reservation = ledger.decisions.enqueue("team/service", "red", "t", ((H200, 2),))
    assert release(ledger)[0] == [["b"]]
    ledger.decisions.retract_reservation("team/service", reservation)
    assert release(ledger)[0] == [["a"]]


def test_e2_what_is_reserved_for_a_gang_counts_once_though_its_pods_are_on_their_way() -> None:
    members = [waiting(name).in_group("train") for name in "ab"]
    asked = GROUP.asking({f"{H200}|{H800}": 2})
    ledger = a_cluster(QUEUE.with_policy("Deny"), asked, *members[:1])
    assert release(ledger)[0] == [[KEY]]
    see(ledger, *members[1:])
    assert judge_create(ledger, waiting("new", 1).facts()).fits
    assert judge_create(ledger, waiting("new", 2).facts()).outcome is Outcome.WAITS
    assert judge_create(ledger, waiting("new", 3, H800).facts()).fits


def asks_anything(ledger: Ledger) -> bool:
    """Whether the group waits to be enqueued, in whichever queue."""
    return ledger.groups[KEY].asks is not None


def test_e5_who_asks_for_nothing_waits_for_a_queue_that_is_not_there() -> None:
    """It is told so; once the queue is there, nothing is reserved for it."""
    ledger = a_cluster(GROUP.in_queue("later"))
    group = ledger.groups[KEY]
    _, (refused,) = release(ledger, "later")
    assert refused.gang is group
    assert refused.verdict.reason is Reason.QUEUE_NOT_FOUND
    see(ledger, a_queue("later").with_quota({H200: 1}))
    assert not asks_anything(ledger)
    assert release(ledger, "later") == ([], [])
    assert ledger.needs_nothing_yet(group)
    ledger.queue_gone("later")
    assert asks_anything(ledger)
    see(ledger, a_namespace("team").in_mode("off"))
    assert not asks_anything(ledger)
    see(ledger, a_namespace("team"))
    assert asks_anything(ledger)
    see(ledger, a_pod("a").in_group("train").naming(H200).asking_for(1))
    see(ledger, a_pod("b").in_group("train").naming(H200).asking_for(1))
    assert not asks_anything(ledger), "its pods wait"
    assert drift(ledger) == {}


@pytest.mark.parametrize("mode", ["audit", "off"])
def test_a_namespace_where_nothing_is_enforced_reserves_nothing(mode: str) -> None:
    team = a_namespace("team")
    ledger = a_cluster(team.in_mode(mode), GROUP.asking({H200: 1}))
    assert not waits_to_be_enqueued(ledger)
    see(ledger, team.in_mode("enforced"))
    assert release(ledger)[0] == [[KEY]]
    ledger.namespace_gone("team")
    assert ledger.groups[KEY].enqueued


def test_i5_of_many_groups_that_an_event_concerns_most_are_looked_at_later() -> None:
    groups = [asking(f"g{n}", 3).of_class("high") for n in range(5)]
    ledger = a_cluster(a_namespace("team").in_mode("off"), *groups, at_once=3)
    see(ledger, a_namespace("team"))
    assert (ledger.overdue, ledger.reassessment.left) == (True, 5)
    ledger.group_gone("team/g0")
    assert release(ledger) == ([], [])
    ledger.reassessment.read_overdue()
    assert release(ledger)[0] == [["team/g1"]]
    ledger.priority_class_seen("high", 10)
    assert ledger.reassessment.left == 4
    see(ledger, a_namespace("other"))


@pytest.mark.parametrize(
    "group",
    [GROUP, GROUP.asking({H200: 1}).in_queue(None), GROUP.asking({H200: 1}).in_phase("Completed")],
)
def test_who_asks_for_nothing_has_no_queue_or_is_done_is_not_enqueued(group: GroupBody) -> None:
    ledger = a_cluster(group)
    assert release(ledger) == ([], [])
    assert not ledger.groups[KEY].to_be_enqueued or not group.facts().request


def test_beside_volcano_no_group_is_enqueued_by_us() -> None:
    ledger = a_cluster(GROUP.asking({H200: 1}), enqueues=False)
    assert release(ledger) == ([], [])


# --- order ----------------------------------------------------------------------------------------


def test_e6_groups_and_pods_go_in_one_order() -> None:
    late = "2026-02-01T00:00:00Z"
    ledger = a_cluster(
        waiting("early", 2),
        asking("b", 2).created(late),
        waiting("last").created("2026-03-01T00:00:00Z"),
    )
    opened, refusals = release(ledger)
    assert opened == [["early"], ["last"]]
    assert refusals[0].gang is ledger.groups["team/b"]
    ledger.priority_class_seen("high", 10)
    see(ledger, asking("c", 2).created(late).of_class("high"))
    ledger.pod_gone("uid-early")
    assert release(ledger)[0] == [["team/c"]]


def test_fifo_a_group_without_room_holds_up_those_behind_it_and_is_held_up() -> None:
    held = waiting("held", 2).stamped("red", {H200: 2})
    late = waiting("late").created("2026-02-01T00:00:00Z")
    alien = waiting("alien").created("2026-02-02T00:00:00Z").in_namespace("other")
    ledger = a_cluster(QUEUE.fifo(), held, asking("a", 2), late, alien, waiting("free", 1, H800))
    opened, refusals = release(ledger)
    assert opened == [["free"]]
    texts = {
        refusal.pods[0].facts.namespace if refusal.pods else "group": refusal.verdict.text
        for refusal in refusals
    }
    assert "(fifo), and group <team/a>, which" in texts["team"]
    assert "(fifo), and a group, which" in texts["other"]
    see(ledger, asking("b", 1).created("2026-03-01T00:00:00Z"))
    (refused,) = release(ledger)[1]
    assert refused.gang is ledger.groups["team/b"]
    assert refused.verdict.reason is Reason.BEHIND
    ledger.pod_gone("uid-held")
    assert release(ledger)[0] == [["team/a"], ["late"]]


# --- the end --------------------------------------------------------------------------------------


def enqueued(ledger: Ledger) -> None:
    """The watch brings the reservation back."""
    assert release(ledger)[0] == [[KEY]]
    see(ledger, GROUP.asking({H200: 2}).enqueued("red", {H200: 2}, "t").at_revision(200))
    assert ledger.groups[KEY].enqueued


def test_t2_a_restart_knows_the_reservation() -> None:
    """A choice of cards that an earlier version wrote counts for the first of them (T3)."""
    group = GROUP.asking({f"{H200}|{H800}": 2}).enqueued("red", {f"{H200}|{H800}": 2})
    ledger = a_cluster(group, asking("b", 2), asking("c", 3, H800))
    assert ledger.groups[KEY].enqueued
    assert release(ledger)[0] == [["team/c"]]
    assert (inqueue(ledger, H200), inqueue(ledger, H800)) == (2, 3)
    assert drift(ledger) == {}


def test_e8_who_lost_his_place_asks_again_when_a_pod_of_it_is_there() -> None:
    ledger = a_cluster(GROUP.asking({H200: 2}))
    enqueued(ledger)
    ledger.decisions.lose_place(KEY)
    see(ledger, GROUP.asking({H200: 2}).at_revision(300))
    assert inqueue(ledger, H200) == 0
    assert release(ledger) == ([], [])
    see(ledger, waiting("a").in_group("train"), asking("later", 2).created("2026-09-01T00:00:00Z"))
    assert release(ledger)[0] == [["team/later"]]


def test_e8_who_lost_his_place_asks_again_for_something_else() -> None:
    ledger = a_cluster(GROUP.asking({H200: 2}))
    enqueued(ledger)
    ledger.decisions.lose_place(KEY)
    see(ledger, GROUP.asking({H200: 1}).at_revision(300))
    assert release(ledger)[0] == [[KEY]]


def test_e1_a_reservation_that_is_not_written_is_taken_back_and_asked_for_again() -> None:
    ledger = a_cluster(GROUP.asking({H200: 2}))
    reservation = ledger.decisions.enqueue(KEY, "red", "t", ((H200, 2),))
    assert inqueue(ledger, H200) == 2
    assert not waits_to_be_enqueued(ledger)
    ledger.decisions.retract_reservation(KEY, reservation)
    ledger.decisions.hold_back_gang(KEY)
    assert inqueue(ledger, H200) == 0
    assert release(ledger) == ([], [])
    ledger.decisions.put_back_gang(KEY, "red")
    assert release(ledger)[0] == [[KEY]]


@pytest.mark.parametrize("by", ["the answer", "its event"])
def test_t2_what_was_reserved_before_is_free_once_what_replaces_it_is_written(by: str) -> None:
    """Until then it stands on the group, and the write may be late, or in vain."""
    ledger = a_cluster(GROUP.asking({H200: 3}), a_queue("blue").with_quota({H200: 2}))
    assert release(ledger)[0] == [[KEY]]
    asked = GROUP.asking({H200: 3})
    see(ledger, asked.enqueued("red", {H200: 3}, "t").at_revision(200))
    moved = asked.in_queue("blue").enqueued("red", {H200: 3}, "t").at_revision(201)
    see(ledger, moved)
    reservation = ledger.decisions.reserve(KEY, "blue", "t", ((H200, 2),))
    assert inqueue(ledger, H200, "blue") == 2
    assert inqueue(ledger, H200) == 3
    assert drift(ledger) == {}
    if by == "the answer":
        ledger.decisions.confirm_reservation(KEY, reservation, 202)
    else:
        see(ledger, asked.in_queue("blue").reserving("blue", {H200: 2}, "t").at_revision(202))
    assert inqueue(ledger, H200) == 0
    assert inqueue(ledger, H200, "blue") == 2
    assert drift(ledger) == {}

"""V3: beside Volcano a group has its place in the order from when it is first asked about."""

from hypothesis import given
from hypothesis import strategies as st

from builders import H200, H800, a_group, a_pod, see
from builders.group import GroupBody
from cardquota.quota.decisions import enqueue_request
from cardquota.quota.ledger import Ledger
from cardquota.quota.reports.drift import drift

from ..releasing import QUEUE, a_cluster, release, waiting

GROUP = a_group("train").in_queue("red").of(2)
KEY = "team/train"
GPU = "nvidia.com/gpu"


def beside_volcano(*things: GroupBody) -> Ledger:
    return a_cluster(*things, enqueues=False)


def ask(ledger: Ledger, *keys: str) -> None:
    """As the leader does when it is asked about them."""
    for key in keys:
        facts = ledger.groups[key].facts
        assert facts is not None
        found = enqueue_request(ledger, facts)
        assert found is not None
        assert found.exact
        ledger.decisions.ask(key, found.request)


def inqueue(ledger: Ledger, card: str = H200) -> int:
    account = ledger.account("red")
    return account.row(card).inqueue if account else 0


def asking(name: str, number: int) -> GroupBody:
    return a_group(name).in_queue("red").of(2).asking({H200: number})


def reserve(ledger: Ledger, group: GroupBody, number: int) -> None:
    """The leader's reservation is written and seen."""
    assert release(ledger)[0] == [[f"team/{group.name}"]]
    reservation = ledger.groups[f"team/{group.name}"].reservation
    assert reservation is not None
    stored = group.enqueued("red", {H200: number}, reservation.term).at_revision(200)
    ledger.decisions.confirm_reservation(f"team/{group.name}", reservation, 200)
    see(ledger, stored)


def test_the_reservation_of_such_a_group_stands_until_it_asks_for_something_else() -> None:
    group = GROUP.needing({GPU: 2})
    ledger = beside_volcano(group)
    see(ledger, QUEUE.with_quota({H200: 3}))
    ask(ledger, KEY)
    reserve(ledger, group, 2)
    state = ledger.groups[KEY]
    assert state.enqueued
    assert state.facts is not None
    assert state.reservation is not None
    assert state.reservation.request == state.facts.request.mark
    mark = state.reservation.request
    see(ledger, GROUP.needing({GPU: 3}).at_revision(300))
    assert state.facts.request.mark != mark


def test_e8_who_lost_his_place_goes_after_others_when_he_is_asked_about_again() -> None:
    group, other = asking("train", 2), asking("later", 2).created("2027-01-01T00:00:00Z")
    ledger = beside_volcano(group, other)
    ask(ledger, KEY)
    reserve(ledger, group, 2)
    ledger.decisions.lose_place(KEY)
    see(ledger, group.at_revision(300))
    assert release(ledger) == ([], [])
    ask(ledger, KEY, "team/later")
    assert release(ledger)[0] == [["team/later"]]


def test_who_writes_another_request_is_to_be_asked_about_again() -> None:
    ledger = beside_volcano(asking("train", 5))
    ask(ledger, KEY)
    assert release(ledger)[0] == []
    see(ledger, asking("train", 2).at_revision(300))
    assert ledger.groups[KEY].asked is None
    assert release(ledger)[0] == []
    ask(ledger, KEY)
    assert release(ledger)[0] == [[KEY]]


def test_who_was_rejected_waits_until_he_asks_for_something_else() -> None:
    """Also where no place is kept for him, and nothing of him is there."""
    ledger = beside_volcano(GROUP.needing({GPU: 5}))
    ledger.decisions.reject(KEY, rejected=True)
    ledger.decisions.reject("team/nowhere", rejected=True)
    assert ledger.groups[KEY].waits
    see(ledger, GROUP.needing({GPU: 4}).at_revision(300))
    assert not ledger.groups[KEY].waits


def test_fifo_a_group_that_names_no_card_holds_up_those_who_want_the_one_that_it_gets() -> None:
    fifo = QUEUE.with_quota({H200: 3}).put("fifo", "spec", "dequeueStrategy")
    holder = waiting("holder").ungated().stamped("red", {H200: 1}).on_node("h200-a")
    first = GROUP.needing({GPU: 3}).created("2026-01-01T00:00:00Z")
    ledger = a_cluster(first, asking("other", 1).created("2026-01-02T00:00:00Z"), enqueues=False)
    see(ledger, fifo, holder)
    ask(ledger, KEY, "team/other")
    opened, refusals = release(ledger)
    assert opened == []
    assert [one.gang.key for one in refusals if one.gang] == [KEY, "team/other"]


@given(
    st.lists(
        st.tuples(
            st.dictionaries(st.sampled_from((H200, H800)), st.integers(1, 4), min_size=1),
            st.sampled_from(("2026-01-01T00:00:00Z", "2026-01-02T00:00:00Z")),
        ),
        max_size=6,
    )
)
def test_e1_who_all_are_asked_about_go_as_they_would_without_volcano(
    wanted: list[tuple[dict[str, int], str]],
) -> None:
    groups = [
        a_group(f"g{number}").in_queue("red").of(2).asking(cards).created(created)
        for number, (cards, created) in enumerate(wanted)
    ]
    alone, beside = a_cluster(*groups), beside_volcano(*groups)
    ask(beside, *(f"team/{group.name}" for group in groups))
    for _ in groups:
        found, expected = release(beside), release(alone)
        assert found[0] == expected[0]
        assert [one.verdict for one in found[1]] == [one.verdict for one in expected[1]]
    for card in (H200, H800):
        assert inqueue(beside, card) == inqueue(alone, card)
    assert drift(beside) == {}


def test_whose_pods_have_failed_is_to_be_asked_about_again() -> None:
    """Nothing is kept for a gang that ended, as long as nobody wants to start it anew."""
    group = asking("train", 2)
    ledger = beside_volcano(group)
    ask(ledger, KEY)
    pods = [
        a_pod(name).in_queue("red").in_group("train").naming(H200).asking_for(1) for name in "ab"
    ]
    run = [pod.stamped("red", {H200: 1}).on_node("h200-a") for pod in pods]
    see(ledger, *run)
    see(ledger, *[pod.in_phase("Failed").at_revision(600) for pod in run])
    assert ledger.groups[KEY].asks is None
    assert release(ledger) == ([], [])
    ask(ledger, KEY)
    assert release(ledger)[0] == [[KEY]]


def test_that_somebody_asks_is_noted_once_and_until_the_term_is_over() -> None:
    """By it the condition of a group is known to be this leader's matter."""
    ledger = beside_volcano(asking("train", 2))
    ledger.dirty.clear()
    ledger.decisions.note_vote(KEY, voted_on=True)
    assert ledger.groups[KEY].voted_on
    assert KEY in ledger.dirty.groups.take()
    ledger.decisions.note_vote(KEY, voted_on=True)
    ledger.decisions.note_vote("team/nowhere", voted_on=True)
    assert not ledger.dirty.groups.take()
    ledger.decisions.note_vote(KEY, voted_on=False)
    assert not ledger.groups[KEY].voted_on

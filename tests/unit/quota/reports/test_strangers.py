"""V1: who is refused what, of pods of which queue; bounded, and seldom another thing."""

from collections.abc import Sequence

import pytest

from builders import H200, a_ledger, a_pod, a_queue
from cardquota.quota.messages.volcano.volcano_messages import LONGEST_STRANGER
from cardquota.quota.reports.strangers import (
    LASTING,
    MOST_PODS,
    MOST_USERS,
    SETTLING,
    UNCHANGED,
    RefusedUser,
    Strangers,
    queue_of_pod,
)
from cardquota.quota.vocabulary import RefusedWrite

BINDING, GROUP = RefusedWrite.BINDING, RefusedWrite.GROUP
USER = "system:serviceaccount:batch:volcano-scheduler"


class TermOfStrangers:
    """What is noticed in one term, at a time of the test's own."""

    def __init__(self) -> None:
        self.now = 0.0
        self.strangers = Strangers(lambda: self.now)
        self.changes = 0

    def note(
        self, *pods: str, user: str = USER, what: RefusedWrite = BINDING, queue: str = "red"
    ) -> bool:
        changed = self.strangers.note(what, user, queue, pods)
        self.changes += changed
        return changed

    def pass_by(self, seconds: float, step: float = 5.0) -> None:
        """As the leader looks."""
        end = self.now + seconds
        while self.now < end:
            self.now += min(step, end - self.now)
            for queue in self.strangers.due():
                self.changes += self.strangers.look(queue)

    @property
    def shown(self) -> Sequence[RefusedUser]:
        return self.strangers.of("red").users


@pytest.fixture
def term() -> TermOfStrangers:
    return TermOfStrangers()


def test_it_is_shown_at_once_and_over_ten_minutes_after_the_last_time(
    term: TermOfStrangers,
) -> None:
    assert term.note("a")
    assert term.shown == (RefusedUser(BINDING, USER, 1, more=False),)
    term.pass_by(300)
    assert not term.note("a")
    term.pass_by(LASTING - 5)
    assert (len(term.shown), term.changes) == (1, 1)
    term.pass_by(10)
    assert list(term.shown) == []
    term.pass_by(UNCHANGED + 5)
    assert term.changes == 2
    assert len(term.strangers) == 0


def test_numbers_change_it_once_a_minute(term: TermOfStrangers) -> None:
    for number in range(300):
        term.note(f"p{number % 15}")
        term.pass_by(1, step=1)
    assert term.shown == (RefusedUser(BINDING, USER, 15, more=False),)
    assert term.changes == 2
    # Nor is it another thing when it is over and begins again.
    term.pass_by(2 * LASTING)
    changes = term.changes
    term.note("a")
    term.note("b", user="x")
    assert term.changes == changes + 1


def test_it_is_no_write_a_minute_where_nothing_changes(term: TermOfStrangers) -> None:
    for _ in range(1_000):
        term.note("a", "b")
        term.pass_by(1, step=1)
    assert term.changes == 1


def test_begun_again_at_once_it_waits_for_its_minute(term: TermOfStrangers) -> None:
    term.note("a")
    term.pass_by(LASTING + 5)
    assert (term.shown, term.changes) == ((), 2)
    assert not term.note("a")
    term.pass_by(UNCHANGED - 10)
    assert term.changes == 2
    term.pass_by(10)
    assert (len(term.shown), term.changes) == (1, 3)


def test_pods_are_counted_up_to_a_number_and_each_for_ten_minutes(term: TermOfStrangers) -> None:
    term.note(*(f"p{number}" for number in range(MOST_PODS)))
    assert term.shown == (RefusedUser(BINDING, USER, MOST_PODS, more=False),)
    term.note("one-more")
    term.pass_by(UNCHANGED)
    assert term.shown == (RefusedUser(BINDING, USER, MOST_PODS, more=True),)
    term.pass_by(LASTING - UNCHANGED - 5)
    term.note("one-more")
    term.pass_by(10)
    assert term.shown == (RefusedUser(BINDING, USER, 1, more=False),)


def test_who_has_most_pods_is_the_first_and_groups_are_another_matter(
    term: TermOfStrangers,
) -> None:
    term.note("a")
    term.note("a", "b", what=GROUP)
    term.note("c", queue="blue")
    term.pass_by(UNCHANGED)
    assert term.shown == (
        RefusedUser(GROUP, USER, 2, more=False),
        RefusedUser(BINDING, USER, 1, more=False),
    )
    assert len(term.strangers.of("blue").users) == 1


def test_a_thousand_users_do_not_push_volcano_out(term: TermOfStrangers) -> None:
    term.note("a", "b")
    for number in range(1_000):
        term.note("a", user=f"user-{number}")
    term.note("a", user="x" * 10_000)
    term.pass_by(UNCHANGED)
    assert len(term.shown) == MOST_USERS
    assert term.shown[0] == RefusedUser(BINDING, USER, 2, more=False)
    assert max(len(one.user) for one in term.shown) == LONGEST_STRANGER
    assert term.changes == 2


def test_a_new_leader_knows_nothing_for_a_while(term: TermOfStrangers) -> None:
    """Until the other replicas have told it, what a queue says may be so still."""
    term.note("a")
    assert term.strangers.of("red").known
    assert not term.strangers.of("blue").known
    term.now = SETTLING
    assert term.strangers.of("blue") == (True, ())
    assert term.strangers.known


def test_the_queue_is_that_of_a_pod_that_is_known_by_its_uid() -> None:
    ledger = a_ledger(
        a_queue("red").with_quota({H200: 1}),
        a_pod("a").in_queue("red").naming(H200).asking_for(1),
        a_pod("orphan").in_queue("gone").naming(H200).asking_for(1),
        a_pod("free").asking_for(1),
    )
    assert queue_of_pod(ledger, a_pod("a").uid) == "red"
    for uid in (a_pod("orphan").uid, a_pod("free").uid, "", "unknown"):
        assert queue_of_pod(ledger, uid) is None

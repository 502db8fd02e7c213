"""T7: how many pods wait for which reason, as they were last judged."""

from statistics import median_low

from hypothesis import given
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from builders import a_pod
from cardquota.quota import Outcome, Reason, Verdict, time_text
from cardquota.quota.ledger.groups import PodGroupState
from cardquota.quota.pending import BehindHead, Candidate, PendingQueue, WaitTimes
from cardquota.quota.pods import ChargeState, PodRecord

BEHIND = BehindHead("NVIDIA-H200", "team", "first", group=False, waited=None)
KEYS = ("one", "two", "three")


def record(name: str) -> PodRecord:
    found = PodRecord(a_pod(name).gated().facts())
    found.charge_state = ChargeState.GATED_GATE
    return found


def words(reason: Reason | None) -> Verdict:
    return Verdict(Outcome.WAITS, "red", reason, "text")


def candidate_of(pending: PendingQueue, key: str) -> Candidate:
    candidate = pending.classes[key].candidate
    assert candidate is not None
    return candidate


def test_t7_all_of_a_class_wait_for_what_its_first_waits_for() -> None:
    pending, pods = PendingQueue("red"), [record(name) for name in "abc"]
    for pod in pods[:2]:
        pending.join(pod, "one")
    pending.pending_notices.add(candidate_of(pending, "one"), words(Reason.INSUFFICIENT_CARD))
    pending.join(pods[2], "one")
    assert pending.pending_notices.by_reason == {Reason.INSUFFICIENT_CARD: 3}
    pending.pending_notices.add(candidate_of(pending, "one"), words(Reason.QUEUE_NOT_OPEN))
    assert pending.pending_notices.by_reason[Reason.QUEUE_NOT_OPEN] == 3
    for pod in pods:
        pending.leave(pod)
    assert pending.pending_notices.by_reason == {}


def test_t7_who_is_behind_somebody_waits_for_that() -> None:
    pending = PendingQueue("red")
    pending.join(record("a"), "one")
    pending.pending_notices.add_behind(candidate_of(pending, "one"), BEHIND)
    assert pending.pending_notices.by_reason == {Reason.BEHIND: 1}


def test_t7_who_waits_for_a_write_of_ours_keeps_the_last_reason() -> None:
    pending = PendingQueue("red")
    pending.join(record("a"), "one")
    for reason in (Reason.INSUFFICIENT_CARD, None):
        pending.pending_notices.add(candidate_of(pending, "one"), words(reason))
    assert pending.pending_notices.by_reason[Reason.INSUFFICIENT_CARD] == 1


def test_t7_a_group_without_pods_is_no_pod_that_waits() -> None:
    pending, group = PendingQueue("red"), PodGroupState("team/group")
    pending.ask(group, record("group").sort_key, ("NVIDIA-H200",))
    pending.pending_notices.add(pending.groups[group], words(Reason.INSUFFICIENT_CARD))
    pending.pending_notices.add_behind(pending.groups[group], BEHIND)
    assert pending.pending_notices.by_reason == {}
    assert len(pending.waits) == 0


class ComingAndGoing(RuleBasedStateMachine):
    """Pods come, go and are judged, in any order."""

    def __init__(self) -> None:
        super().__init__()
        self.pending = PendingQueue("red")
        self.there: list[PodRecord] = []
        self.made = 0

    @rule(key=st.sampled_from(KEYS))
    def comes(self, key: str) -> None:
        self.made += 1
        pod = record(f"pod-{self.made}")
        self.pending.join(pod, key)
        self.there.append(pod)

    @rule(number=st.integers(0, 100))
    def goes(self, number: int) -> None:
        if self.there:
            self.pending.leave(self.there.pop(number % len(self.there)))

    @rule(key=st.sampled_from(KEYS), reason=st.sampled_from([None, *Reason]))
    def is_judged(self, key: str, reason: Reason | None) -> None:
        if key in self.pending.classes:
            self.pending.pending_notices.add(candidate_of(self.pending, key), words(reason))

    @rule(key=st.sampled_from(KEYS))
    def is_behind(self, key: str) -> None:
        if key in self.pending.classes:
            self.pending.pending_notices.add_behind(candidate_of(self.pending, key), BEHIND)

    @invariant()
    def counts_are_those_of_a_recount(self) -> None:
        found = dict[Reason | None, int]()
        for pod_class in self.pending.classes.values():
            reason = pod_class.waits_for
            found[reason] = found.get(reason, 0) + len(pod_class.sort_keys)
        assert found == self.pending.pending_notices.by_reason
        assert sum(found.values()) == len(self.pending.waits) == len(self.pending)


TestComingAndGoing = ComingAndGoing.TestCase


# --- T7: since when pods wait, kept in order while they come and go ------------------------------


SECONDS = st.integers(0, 40)


@given(st.lists(st.tuples(st.booleans(), SECONDS)))
def test_t7_it_is_what_a_recount_finds(events: list[tuple[bool, int]]) -> None:
    waits, there = WaitTimes(), list[int]()
    for comes, second in events:
        if comes:
            there.append(second)
            waits.add(time_text(second))
        elif there:
            waits.discard(time_text(there.pop(second % len(there))))
        assert len(waits) == len(there)
        assert waits.oldest == (time_text(min(there)) if there else None)
        assert waits.median == (time_text(median_low(there)) if there else None)

"""T7: how many pods wait for which reason, as they were last judged."""

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from builders import a_pod
from cardquota.quota import Outcome, Reason, Verdict
from cardquota.quota.ledger.groups import PodGroupState
from cardquota.quota.pending import BehindHead, Candidate, PendingQueue
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

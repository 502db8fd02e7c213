"""What a run shows seldom, or not at all, is shown here: each breakage lets through what must wait.

Every scenario ends as the rules say without the breakage, and otherwise with it.
"""

from collections.abc import Callable
from typing import Any

import pytest

from builders import CARDS, H200, a_group, a_ledger, a_node, a_pod, a_queue, see
from builders.pod import PodBody
from cardquota.cluster.watch import ChangeNotifier
from cardquota.extender import EnqueueAsk, EnqueueVotes, JobRequests
from cardquota.quota import SURGE, Policy, Verdict
from cardquota.quota.decisions import Vote, judge_create
from cardquota.quota.ledger.groups import PodGroupState
from cardquota.quota.release import Opening
from cardquota.quota.release.cycle import openings
from cardquota.quota.reports import report
from chaos.breakages.breaker import Breaker
from chaos.breakages.broken import BREAKAGES
from fuzz.door.run import fuzz_door

from ..extender.enqueue.test_enqueue_votes import no_job


def waits(name: str, amount: int) -> PodBody:
    return a_pod(name).in_queue("red").naming(H200).asking_for(amount).gated()


def phantom_reservation() -> int:
    """What is charged to a queue of 3 that a group of 8 held cards has moved to (I1)."""
    held = [a_pod(n).in_group("gang").stamped("own", {H200: 4}).on_node("h200-a") for n in "ab"]
    more = a_pod("c").in_group("gang").gated()
    group = a_group().in_queue("red").of(3)
    ledger = a_ledger(*CARDS, a_queue("red").with_quota({H200: 3}), group, *held, more)
    found = next(openings(ledger, "red"))
    assert isinstance(found, Opening)
    ledger.decisions.reserve("team/gang", "red", "t", found.asked)
    account = ledger.account("red")
    return account.row(H200).charged if account else 0


def unjudged_enqueue() -> bool:
    """Whether a group is enqueued that asks for two, where one of two is held (E1)."""
    quota = a_queue("red").with_quota({H200: 2})
    held = a_pod("x").in_queue("red").stamped("red", {H200: 1}).on_node("h200-a")
    group = a_group().in_queue("red").of(2).asking({H200: 2})
    found = next(openings(a_ledger(*CARDS, quota, held, group), "red"), None)
    return isinstance(found, Opening)


def added_reservation() -> int:
    """What is reserved beyond two, for two of one card each for whom two were reserved (T2)."""
    quota = a_queue("red").with_quota({H200: 4})
    group = a_group().in_queue("red").of(2).asking({H200: 2}).enqueued("red", {H200: 2})
    members = [waits(name, 1).in_queue(None).in_group("gang") for name in "ab"]
    ledger = a_ledger(*CARDS, quota, group, *members)
    found = next(openings(ledger, "red"))
    assert isinstance(found, Opening)
    reservation = ledger.decisions.reserve("team/gang", "red", "t", found.asked)
    return dict(reservation.amounts)[H200] - 2


def strangers_in_the_way() -> bool:
    """Whether a pod is refused since another waits for a group that does not exist."""
    quota = a_queue("red").with_quota({H200: 4}).with_policy("Deny")
    ledger = a_ledger(*CARDS, quota, waits("a", 4).in_group("nobody"))
    return not judge_create(ledger, waits("new", 1).ungated().facts()).fits


def lent_to_all() -> bool:
    """Whether a pod of no update goes beyond the quota, by what the queue lends (R6)."""
    quota = a_queue("red").with_quota({H200: 1}).annotated(SURGE, "1")
    held = a_pod("x").in_queue("red").stamped("red", {H200: 1}).on_node("h200-a")
    ledger = a_ledger(*CARDS, quota, held)
    see(ledger, waits("new", 1))
    return isinstance(next(openings(ledger, "red"), None), Opening)


def volcano_refused_jobs() -> bool:
    """Whether a pod of Volcano's Job is refused where another one waits or is refused (E5)."""
    quota = a_queue("red").with_quota({H200: 1}).with_policy("Deny")
    held = a_pod("x").in_queue("red").stamped("red", {H200: 1}).on_node("h200-a")
    job = waits("new", 1).ungated().owned_by("Job", "batch.volcano.sh/v1alpha1").facts()
    return a_ledger(*CARDS, quota, held).policy_of(job, "red") is Policy.DENY


def waiting_off_by_one() -> bool:
    """Whether the status of a queue with two pods at the gate says another number (T7)."""
    found = report(a_ledger(*CARDS, a_queue("red"), waits("a", 1), waits("b", 1)), "red")
    return found is not None and found.waiting.pods != 2


def holders_stay() -> int:
    """How many cards those hold, as a refusal says, who were there and are gone (section 6)."""
    ledger = a_ledger(*CARDS, a_queue("red").with_quota({H200: 4}))
    for number in range(1_000):
        pod = a_pod(f"x{number}").in_queue("red").stamped("red", {H200: 1}).on_node("h200-a")
        see(ledger, pod)
        ledger.pod_gone(pod.uid)
    return ledger.held_cards.within("red", H200, "team").total


@pytest.mark.parametrize(
    "scenario",
    [
        phantom_reservation,
        unjudged_enqueue,
        added_reservation,
        strangers_in_the_way,
        lent_to_all,
        volcano_refused_jobs,
        waiting_off_by_one,
        holders_stay,
    ],
    ids=lambda s: s.__name__,
)
def test_a_breakage_lets_through_what_must_wait(scenario: Callable[[], int]) -> None:
    assert not scenario()
    with Breaker() as breaker:
        BREAKAGES[scenario.__name__.replace("_", "-")].apply(breaker)
        assert scenario()
        assert breaker.broke.keys() == set(breaker.labels)


# --- votes (V3): without them Volcano makes pods that only wait -------------------------------


class NobodyElse:
    async def ask(self, ask: EnqueueAsk) -> Vote:
        raise AssertionError(ask)


def _nothing(group: PodGroupState, verdict: Verdict) -> None: ...


async def vote_on_what_has_no_room() -> Vote:
    group = a_group("train").in_queue("red").of(2).asking({H200: 2})
    ledger = a_ledger(
        a_node("a").with_cards(H200, 8), a_queue("red").with_quota({H200: 1}), group, enqueues=False
    )
    nobody: Any = NobodyElse()
    notifier = ChangeNotifier()
    jobs = JobRequests(ledger, notifier, no_job)
    votes = EnqueueVotes(ledger, notifier, nobody, lambda: True, _nothing, jobs)
    votes.begin("term")
    return await votes.vote(EnqueueAsk("team", "train"))


async def test_without_the_look_at_what_is_reserved_everybody_is_permitted() -> None:
    assert await vote_on_what_has_no_room() is Vote.REJECT
    with Breaker() as breaker:
        BREAKAGES["volcano-vote-unreserved"].apply(breaker)
        assert await vote_on_what_has_no_room() is Vote.PERMIT
        assert breaker.broke.keys() == set(breaker.labels)


@pytest.mark.parametrize(
    "name", ["uncharged-binding", "unsettled-binding", "kinds-meet", "broken-card"]
)
async def test_without_it_the_fuzz_of_the_door_finds_something_at_once(name: str) -> None:
    """A run of chaos may need minutes. Of `unnamed-pod` only a run can tell."""
    with Breaker() as breaker:
        BREAKAGES[name].apply(breaker)
        found = await fuzz_door(600, 1, large=0.0, timed=False)
        assert set(breaker.broke) == set(breaker.labels)
    assert found.counted["drift"], found.text()

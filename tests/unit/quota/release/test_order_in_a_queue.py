"""E6: who goes first within a queue."""

from dataclasses import dataclass, replace
from datetime import datetime

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from builders import CARDS, H200, H800, Body, a_group, a_ledger, a_pod, a_queue, see
from builders.pod import PodBody
from cardquota.quota.ledger import Ledger
from cardquota.quota.pending import AT_A_TIME
from cardquota.quota.release import Starvation

from ..counting import counted_calls
from ..releasing import GANG, a_cluster, later, member, release, runs, waiting

QUOTA = {H200: 40, H800: 25}


def test_i5_when_a_gang_gets_another_place_its_members_are_not_judged_again() -> None:
    """3,000 unlike members wait for room; one that has some changes what the gang holds."""
    many = 3_000
    ledger = a_ledger(
        *CARDS,
        a_queue("red").with_quota({H200: 4, H800: 4}),
        GANG,
        *(runs("a", 1), runs("b", 1), waiting("full", 2).stamped("red", {H200: 2})),
        *(member(f"m{number}", 2).with_cpu(f"{number}m") for number in range(many)),
    )
    release(ledger)
    see(ledger, member("goes", 3, H800))
    with counted_calls() as calls:
        assert release(ledger)[0] == [["goes"]]
    assert calls["judge"] < 10
    assert calls["move"] == many
    assert calls["refresh"] > many // AT_A_TIME


# --- the order of a pass is that of a plain sort -------------------------------------------------


@dataclass(slots=True)
class WaitingPod:
    """One pod, as E6 looks at it."""

    name: str
    group: str
    priority: int
    created: int
    card: str
    number: int
    holds: bool
    group_created: int = 0

    def place(self, *, gang: bool) -> tuple[int, int, str, int, str]:
        """Of a gang, the group's age and name come first."""
        first = (self.group_created, self.group) if gang else (self.created, self.name)
        return (-self.priority, *first, self.created, self.name)

    def body(self) -> PodBody:
        pod = a_pod(self.name).in_queue("red").naming(self.card).asking_for(self.number)
        pod = pod.with_priority(self.priority).created(f"2026-01-01T00:00:0{self.created}Z")
        pod = pod.in_group(self.group) if self.group else pod
        return pod.stamped("red", {self.card: self.number}) if self.holds else pod.gated()


def in_order(pods: list[WaitingPod], minimum: dict[str, int]) -> list[list[str]]:
    """Who goes together, one after the other, where there is room for all: sorted anew for each."""
    found: list[list[str]] = []
    while True:
        ways = [way for pod in pods if not pod.holds and (way := a_way(pod, pods, minimum))]
        if not ways:
            return found
        first = min(ways, key=lambda way: way[0])[1]
        for pod in first:
            pod.holds = True
        found.append([pod.name for pod in first])


def a_way(
    pod: WaitingPod, pods: list[WaitingPod], minimum: dict[str, int]
) -> tuple[tuple[int, int, int, tuple[int, int, str, int, str]], list[WaitingPod]] | None:
    """Its place by E6, and who goes with it; None while its gang is not complete."""
    least = minimum.get(pod.group, 1)
    own = pod.place(gang=least > 1)
    if least == 1:
        return (1, own[0], 0, own), [pod]
    members = [one for one in pods if one.group == pod.group]
    held = {
        card: sum(one.number for one in members if one.holds and one.card == card) for card in QUOTA
    }
    share = max(100 * held[card] // most for card, most in QUOTA.items())
    lacking = least - sum(one.holds for one in members)
    if lacking <= 0:
        return (2, own[0], share, own), [pod]
    waits = sorted((one for one in members if not one.holds), key=lambda one: one.place(gang=True))
    if len(waits) < lacking:
        return None
    # What starts together has the lowest priority of its pods: one of them lifts no others.
    lowest = max(one.place(gang=True)[0] for one in waits)
    readiness = 0 if lacking < least else 1
    return (readiness, lowest, share, (lowest, *own[1:])), waits[:lacking]


@st.composite
def plain_queues(draw: st.DrawFn) -> tuple[list[WaitingPod], dict[str, int]]:
    minimum = {name: draw(st.integers(1, 3)) for name in ("g1", "g2", "g3")}
    pods = [
        WaitingPod(
            f"p{number}",
            draw(st.sampled_from(("", *minimum))),
            draw(st.sampled_from((0, 0, 0, 5))),
            draw(st.integers(1, 3)),
            draw(st.sampled_from((H200, H800))),
            draw(st.integers(1, 2)),
            draw(st.booleans()),
        )
        for number in range(draw(st.integers(1, 12)))
    ]
    created = {name: draw(st.integers(0, 4)) for name in minimum}
    for pod in pods:
        pod.group_created = created.get(pod.group, 0)
    return pods, minimum


@pytest.mark.parametrize("fifo", [False, True])
@given(found=plain_queues())
@settings(max_examples=150, deadline=None)
def test_e6_the_order_of_a_pass_is_that_of_a_plain_sort(
    fifo: bool, found: tuple[list[WaitingPod], dict[str, int]]
) -> None:
    pods, minimum = found
    queue = a_queue("red").with_quota(QUOTA)
    created = dict.fromkeys(minimum, 0) | {pod.group: pod.group_created for pod in pods}
    ledger: Ledger = a_ledger(
        *CARDS,
        queue.fifo() if fifo else queue,
        *(
            a_group(name).in_queue("red").of(least).created(f"2026-01-01T00:00:0{created[name]}Z")
            for name, least in minimum.items()
        ),
        *(pod.body() for pod in pods),
    )
    assert release(ledger)[0] == in_order([replace(pod) for pod in pods], minimum)


def of_a_job(kind: str, name: str, made: str, *, second: int = 0) -> list[Body]:
    """A job of one pod, with its group, as Volcano has it: the pod is made some time later."""
    group = a_group(name).in_queue("red").of(1).created(f"2026-01-01T00:00:{second:02}Z")
    pod = waiting(f"{name}-0").in_group(name).owned_by(kind, "example.com/v1")
    return [group, pod.created(made)]


def test_e6_jobs_go_in_the_order_in_which_they_were_created_whenever_their_pods_are_made() -> None:
    one = a_queue("red").with_quota({H200: 1})
    jobs = [
        *of_a_job("Job", "c", "2026-01-01T00:00:09Z", second=1),
        *of_a_job("PyTorchJob", "b", "2026-01-01T00:00:08Z", second=2),
        *of_a_job("Workflow", "a", "2026-01-01T00:00:07Z", second=2),
    ]
    ledger = a_cluster(one, *jobs)
    for name in ("c-0", "a-0", "b-0"):
        assert release(ledger)[0] == [[name]]
        ledger.pod_gone(f"uid-{name}")


def test_e6_a_pod_of_a_service_goes_by_its_own_creation() -> None:
    """Its group is as old as the service, and pods come and go."""
    group = a_group("web").in_queue("red").of(1).created("2025-01-01T00:00:00Z")
    pod = waiting("web-1").in_group("web").owned_by("ReplicaSet", "apps/v1")
    ledger = a_cluster(a_queue("red").with_quota({H200: 1}), group, later(pod), waiting("z"))
    assert release(ledger)[0] == [["z"]]


def test_e6_a_job_that_begins_anew_has_its_place_and_has_not_waited_since() -> None:
    """Its group is old; what it needs is set aside once its pods have waited."""
    group = a_group("old").in_queue("red").of(1).created("2025-01-01T00:00:00Z")
    pod = later(waiting("old-0", 2)).in_group("old").owned_by("Job")
    ledger = a_cluster(
        a_queue("red").with_quota({H200: 2}), runs("r", 1).in_queue("red"), group, pod
    )
    early = Starvation(datetime.fromisoformat("2026-02-01T00:01:00Z").timestamp(), 600)
    assert release(ledger, "red", early)[0] == []
    see(ledger, waiting("small"))
    assert release(ledger, "red", early)[0] == [["small"]]

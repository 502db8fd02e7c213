"""Cpu and memory that are changed in place (P6): granted while the queue has room, or refused."""

import pytest

from builders import CARDS, H200, Body, a_group, a_ledger, a_namespace, a_pod, a_queue
from builders.pod import PodBody
from cardquota.quota import Outcome, Verdict
from cardquota.quota import vocabulary as v
from cardquota.quota.decisions import judge_resize
from cardquota.quota.ledger import Ledger

FOUR = a_queue().with_quota({H200: 3}).limited_to(cpu="4", memory="8Gi")


def a_cluster(*things: Body, free: bool = False) -> Ledger:
    return a_ledger(*CARDS, a_namespace("team"), FOUR, *things, exempt_cpu_memory=free)


def running(name: str, cpu: str = "1", memory: str = "1Gi", *, cards: int = 1) -> PodBody:
    """Bound and charged; without `cards`, for cpu and memory alone."""
    pod = a_pod(name).in_queue("queue").stamped("queue", {H200: cards} if cards else {})
    pod = pod.asking_for(cards) if cards else pod
    return pod.on_node("h200-a").with_cpu(cpu).with_memory(memory)


def resized(ledger: Ledger, before: PodBody, after: PodBody) -> Verdict:
    return judge_resize(ledger, before.facts(), after.facts())


def test_growth_within_the_queues_limit_fits() -> None:
    """To the last milli-core, beside what others hold."""
    pod = running("a")
    assert resized(a_cluster(pod, running("b")), pod, pod.with_cpu("3")).fits


def test_growth_beyond_it_waits_for_room_that_it_cannot_wait_for() -> None:
    """As for a create: the whole of the pod is requested, and everything is in the total."""
    pod = running("a")
    verdict = resized(a_cluster(pod, running("b")), pod, pod.with_cpu("3001m"))
    assert (verdict.outcome, verdict.reason) == (Outcome.WAITS, v.Reason.INSUFFICIENT_CPU)
    assert verdict.text == (
        "Queue <queue> has insufficient <cpu> quota: requested <3.001>, total would be "
        "<4.001>, but capability is <4>; ask for less, try again when some of it is free, or "
        "ask the queue's owner for a higher quota"
    )


def test_what_can_never_fit() -> None:
    pod = running("a")
    verdict = resized(a_cluster(pod), pod, pod.with_memory("9Gi"))
    assert (verdict.outcome, verdict.reason) == (Outcome.NEVER, v.Reason.INSUFFICIENT_MEMORY)
    assert "requested <9Gi>, total would be <9Gi>, but capability is <8Gi>" in verdict.text
    assert "ask for at most 8Gi" in verdict.text


def test_p4_what_cannot_be_counted_is_refused_whatever_else_is_free() -> None:
    """Nobody would grant it: what the pod holds would go on, and count as nothing."""
    pod = running("a", cpu="3")
    for free in (False, True):
        verdict = resized(a_cluster(pod, free=free), pod, pod.with_cpu(str(2**63)))
        assert (verdict.outcome, verdict.reason) == (Outcome.NEVER, v.Reason.INVALID_CARD)
        assert verdict.text == (
            f"Queue <queue>: resource cpu: <{2**63}> is more than can be counted; "
            "correct the pod's amounts or annotations"
        )


def test_only_what_grows_is_judged() -> None:
    """E4, Q7: above its limit already, a pod may shrink, and grow in what is not short."""
    pod = running("a", cpu="6")
    ledger = a_cluster(pod)
    assert resized(ledger, pod, pod.with_cpu("5")).fits
    assert resized(ledger, pod, pod).fits
    assert resized(ledger, pod, pod.with_memory("2Gi")).fits
    assert not resized(ledger, pod, pod.with_memory("9Gi")).fits


def test_a_pod_that_was_not_seen_yet_counts_as_a_whole() -> None:
    pod = running("a")
    ledger = a_cluster(running("b", cpu="2"))
    assert resized(ledger, pod, pod.with_cpu("2")).fits
    assert not resized(ledger, pod, pod.with_cpu("2001m")).fits


def test_a_pod_at_the_gate_holds_nothing_yet() -> None:
    """It waits with the new amounts; what can never fit is refused."""
    waiting = a_pod("w").in_queue("queue").with_cpu("1").gated()
    ledger = a_cluster(running("b", cpu="4"), waiting)
    assert resized(ledger, waiting, waiting.with_cpu("4")).fits
    assert resized(ledger, waiting, waiting.with_cpu("5")).outcome is Outcome.NEVER


def test_what_its_own_group_has_reserved_is_not_counted_twice() -> None:
    """E2."""
    gang = a_group("gang").in_queue("queue").of(2).reserving("queue", {v.CPU: 4000})
    pod, stranger = running("a").in_group("gang"), running("s").in_group("other")
    ledger = a_cluster(gang, pod)
    assert resized(ledger, pod, pod.with_cpu("4")).fits
    assert not resized(ledger, pod, pod.with_cpu("4500m")).fits
    assert not resized(ledger, stranger, stranger.with_cpu("2")).fits


def test_where_card_pods_are_free_of_these_limits() -> None:
    """P6: `cardUnlimitedCpuMemory`; pods without cards are not."""
    pod, plain = running("a"), running("p", cards=0)
    ledger = a_cluster(pod, plain, free=True)
    assert resized(ledger, pod, pod.with_cpu("100")).fits
    assert not resized(ledger, plain, plain.with_cpu("100")).fits
    gated = a_pod("w").in_queue("queue").asking_for(1).gated()
    assert resized(ledger, gated, gated.with_cpu("100")).fits


def test_where_nothing_is_limited() -> None:
    """Without a queue, and in one without such limits."""
    loose = a_pod("a").asking_for(1).on_node("h200-a").with_cpu("1")
    assert resized(a_cluster(), loose, loose.with_cpu("100")).outcome is Outcome.UNMANAGED
    free = running("c").stamped("free", {H200: 1})
    ledger = a_cluster(a_queue("free").with_quota({H200: 3}), free)
    assert resized(ledger, free, free.with_cpu("100")).fits


@pytest.mark.parametrize("free", [False, True])
@pytest.mark.parametrize("state", ["Closed", "Closing"])
def test_q6_a_queue_that_is_closed_takes_no_growth(state: str, free: bool) -> None:
    """Not within its limits either, nor where card pods are free of them; all may shrink."""
    pod = running("a")
    waiting = a_pod("w").in_queue("queue").with_cpu("1").gated()
    ledger = a_cluster(FOUR.in_state(state), pod, waiting, free=free)
    for one, more in ((pod, "1001m"), (waiting, "2")):
        verdict = resized(ledger, one, one.with_cpu(more))
        assert (verdict.outcome, verdict.reason) == (Outcome.NEVER, v.Reason.QUEUE_NOT_OPEN)
        grown = "from <1> to <1.001>" if one is pod else "from <1> to <2>"
        assert verdict.text == (
            f"Queue <queue> is {state}, so the pod cannot get more: cpu {grown}; ask for no "
            "more than the pod has, ask the queue's owner to open it, or create the pod again in "
            "another queue"
        )
        assert resized(ledger, one, one.with_cpu("500m")).fits
        assert resized(ledger, one, one).fits


def test_q6_a_queue_that_is_gone_takes_no_growth() -> None:
    """What runs stays charged to its name, where no limit would ever meet it."""
    gone = running("b").stamped("gone", {H200: 1}).in_queue("gone")
    ledger = a_cluster(gone)
    verdict = resized(ledger, gone, gone.with_cpu("2").with_memory("1536Mi"))
    assert (verdict.outcome, verdict.reason) == (Outcome.NEVER, v.Reason.QUEUE_NOT_FOUND)
    assert verdict.text == (
        "Queue <gone> does not exist, so the pod cannot get more: cpu from <1> to <2>, memory "
        "from <1Gi> to <1.5Gi>; ask for no more than the pod has, ask for the queue to be created "
        "again, or create the pod again in another queue"
    )
    assert resized(ledger, gone, gone.with_cpu("500m")).fits


def test_e5_nor_does_one_that_is_not_open_to_the_namespace_any_more() -> None:
    pod = running("a")
    more = pod.with_cpu("500m").with_memory("2Gi")
    verdict = resized(a_cluster(FOUR.open_to("others"), pod), pod, more)
    assert (verdict.outcome, verdict.reason) == (Outcome.NEVER, v.Reason.QUEUE_NOT_OPEN)
    assert verdict.text == (
        "Queue <queue> is not open to namespace <team>, so the pod cannot get more: memory from "
        "<1Gi> to <2Gi>; ask for no more than the pod has, ask the queue's owner to add the "
        "namespace to the annotation volcano.sh/card.namespaces, or create the pod again in "
        "another queue"
    )


def test_members_of_a_gang_grow_into_what_is_reserved_for_it_once() -> None:
    """E2: what one has grown into is not there for the next; of another queue it never was."""
    gang = a_group("gang").in_queue("queue").of(3).reserving("queue", {v.CPU: 3000})
    a, b = (running(name).in_group("gang") for name in "ab")
    assert resized(a_cluster(gang, a, b), a, a.with_cpu("3")).fits
    ledger = a_cluster(gang, a.with_cpu("2"), b)
    assert resized(ledger, b, b.with_cpu("2")).fits
    assert not resized(ledger, b, b.with_cpu("2001m")).fits
    elsewhere = a_group("gang").in_queue("other").of(3).reserving("other", {v.CPU: 3000})
    stranger = running("s", cpu="3", cards=0)
    ledger = a_cluster(a_queue("other").limited_to(cpu="9"), elsewhere, a, stranger)
    assert not resized(ledger, a, a.with_cpu("2")).fits

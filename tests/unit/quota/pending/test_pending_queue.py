"""Who waits, in which class, and who has been told why."""

from builders import a_pod
from cardquota.quota import Reason
from cardquota.quota.pending import PendingQueue, PodClass
from cardquota.quota.pods import ChargeState, PodRecord

from ...containers import containers


def record(name: str) -> PodRecord:
    found = PodRecord(a_pod(name).gated().facts())
    found.charge_state = ChargeState.GATED_DENY
    return found


def told(pod_class: PodClass, reason: Reason, most: int = 100) -> list[str]:
    pod_class.set_reason(reason)
    return pod_class.take_untold(most)


def test_a_large_class_is_told_bit_by_bit_while_pods_come_and_go() -> None:
    pod_class, pods = PodClass(), [record(name) for name in "bcdef"]
    for pod in pods:
        pod_class.join(pod.sort_key)
    assert told(pod_class, Reason.INSUFFICIENT_CARD, 2) == ["uid-b", "uid-c"]
    pod_class.leave(pods[2].sort_key)
    for name in "ag":
        pod_class.join(record(name).sort_key)
    assert pod_class.take_untold(2) == ["uid-e", "uid-f"]
    assert pod_class.take_untold(9) == ["uid-a", "uid-g"]
    assert not pod_class.pending_notices


def test_where_nobody_decides_nobody_is_put_in_order() -> None:
    pending, pods = PendingQueue(), [record(f"p{number}") for number in range(3)]
    for _ in range(500):
        for pod in pods:
            pending.join(pod, pod.facts.name)
        for pod in pods:
            pending.leave(pod)
    assert not any(containers(pending).values())


def test_where_passes_never_end_no_more_is_remembered_than_who_waits() -> None:
    pending, first, pods = PendingQueue(), record("first"), [record(f"p{n}") for n in range(3)]
    pending.join(first, "first")
    for _ in range(500):
        for pod in pods:
            pending.join(pod, pod.facts.name)
        assert not pending.refresh(0, lambda _: None)
        candidate = pending.active.first()
        assert candidate is not None
        assert candidate.sort_key == first.sort_key
        for pod in pods:
            pending.leave(pod)
    assert max(containers(pending).values()) <= 64 + 2 * 4

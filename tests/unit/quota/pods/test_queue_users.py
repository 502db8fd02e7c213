"""Q8: whose pods use a queue, those that wait included."""

from builders import CARDS, H200, a_ledger, a_pod, a_queue, see
from builders.pod import PodBody

QUEUE = a_queue().with_quota({H200: 1})


def waiting(uid: str, workload: str) -> PodBody:
    pod = a_pod(uid).with_uid(uid).in_queue("queue").naming(H200).asking_for(1).gated()
    return pod.owned_by("Job", name=workload)


def test_pods_and_workloads_are_counted_and_named() -> None:
    ledger = a_ledger(*CARDS, QUEUE, waiting("a", "train"), waiting("b", "train"))
    see(ledger, waiting("c", "tune").in_namespace("other"))
    users = ledger.queue_users
    assert (users.pods("queue"), users.number("queue")) == (3, 2)
    assert set(users.names("queue")) == {"team/train", "other/tune"}
    assert users.has("queue", "team", "train")
    assert not users.has("queue", "other", "train")

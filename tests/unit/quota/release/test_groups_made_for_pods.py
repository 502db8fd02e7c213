"""V8: Volcano gives a workload's pods their group after it has seen them, and it may be a gang."""

from itertools import chain

from builders import Body, a_group, see
from builders.pod import PodBody
from cardquota.quota import Reason
from cardquota.quota.ledger import Ledger
from cardquota.quota.release import judge_member

from ..releasing import QUEUE, a_cluster, names, release, waiting

GROUP = "podgroup-11111111-2222-3333-4444-555555555555"


def of_replicas(name: str, kind: str = "ReplicaSet") -> PodBody:
    return waiting(name).owned_by(kind, "apps/v1").with_spec(schedulerName="volcano")


def beside_volcano(*things: Body) -> Ledger:
    return a_cluster(QUEUE, *things, enqueues=False, makes_groups=True)


def test_v8_a_pod_of_a_workload_waits_for_its_group() -> None:
    ledger = beside_volcano(of_replicas("a"), of_replicas("b", "StatefulSet"))
    opened, refusals = release(ledger)
    assert opened == []
    assert sorted(chain(*names(refusals))) == ["a", "b"]
    assert {one.verdict.reason for one in refusals} == {Reason.GROUP_NOT_FOUND}
    text = judge_member(ledger, ledger.pods["uid-a"]).text
    assert text.startswith("Queue <red>: Volcano has not given")


def test_v8_two_gangs_that_are_made_late_start_whole() -> None:
    """One by one each would hold a part of the quota for ever."""
    other = GROUP.replace("podgroup-1", "podgroup-2")
    pods = [of_replicas(f"{gang}{n}") for gang in "ab" for n in range(2)]
    ledger = beside_volcano(*pods)
    assert release(ledger)[0] == []
    for gang, name in (("a", GROUP), ("b", other)):
        members = [pod.in_group(name) for pod in pods if pod.name.startswith(gang)]
        see(ledger, *members, a_group(name).in_queue("red").of(2))
    assert release(ledger)[0] == [["a0", "a1"]]


def test_v8_a_group_of_one_lets_each_pod_go_by_itself() -> None:
    pod = of_replicas("a")
    ledger = beside_volcano(pod)
    see(ledger, pod.in_group(GROUP), a_group(GROUP).in_queue("red").of(1))
    assert release(ledger)[0] == [["a"]]


def test_v8_who_gets_no_gang_does_not_wait() -> None:
    """Pods by themselves, pods of other schedulers and of controllers that Volcano does not ask."""
    alone = waiting("alone").with_spec(schedulerName="volcano")
    others = (
        of_replicas("other").with_spec(schedulerName="default-scheduler"),
        of_replicas("own", "PyTorchJob"),
    )
    opened, _ = release(beside_volcano(alone, *others))
    assert sorted(chain(*opened)) == ["alone", "other", "own"]
    standalone = a_cluster(of_replicas("a"))
    assert release(standalone)[0] == [["a"]]

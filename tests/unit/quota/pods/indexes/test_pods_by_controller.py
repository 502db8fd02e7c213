"""How many pods each controller has in a queue and a namespace."""

import pytest

from builders import CARDS, H200, a_ledger, a_namespace, a_pod, a_queue, see
from builders.pod import PodBody
from cardquota.quota import to_its_end
from cardquota.quota.ledger import Ledger
from cardquota.quota.pods import PodRecord, pods_by_controller

LEDGER = (*CARDS, a_namespace("team"), a_queue().with_quota({H200: 9}))


def made(uid: str, name: str, kind: str = "ReplicaSet") -> PodBody:
    pod = a_pod(uid).with_uid(uid).in_queue("queue").naming(H200).asking_for(1).gated()
    return pod.owned_by(kind, name=name)


def test_by_kind_and_name_and_of_each_deployment() -> None:
    ledger = a_ledger(*LEDGER)
    see(ledger, made("a", "web-1"), made("b", "web-1"), made("c", "web-2"))
    see(ledger, made("d", "web", "StatefulSet"), made("e", "other-1"))
    assert ledger.made_pods.numbers("queue", "team") == {
        ("ReplicaSet", "web-1"): 2,
        ("ReplicaSet", "web-2"): 1,
        ("ReplicaSet", "other-1"): 1,
        ("StatefulSet", "web"): 1,
        ("Deployment", "web"): 3,
        ("Deployment", "other"): 1,
    }
    assert ledger.made_pods.numbers("queue", "elsewhere") == {}


def test_pods_that_are_being_deleted_do_not_count() -> None:
    ledger = a_ledger(*LEDGER)
    see(ledger, made("a", "web-1"), made("b", "web-1").terminating())
    numbers = ledger.made_pods.numbers("queue", "team")
    assert numbers is not None
    assert numbers["ReplicaSet", "web-1"] == 1


def counted(ledger: Ledger, namespace: str = "team") -> dict[str, int] | None:
    """Of ReplicaSets, by name."""
    numbers = ledger.made_pods.numbers("queue", namespace)
    if numbers is None:
        return None
    return {name: number for (kind, name), number in numbers.items() if kind == "ReplicaSet"}


def found(ledger: Ledger, *names: str) -> list[str]:
    """Pods of ReplicaSets of these names."""
    pods: list[PodRecord] = []
    made_pods = ledger.made_pods
    to_its_end(made_pods.each("queue", "team", "ReplicaSet", names.__contains__, pods.append))
    return [record.facts.name for record in pods]


def test_what_was_counted_is_kept_up_to_date() -> None:
    ledger = a_ledger(*LEDGER)
    see(ledger, made("a", "web-1"))
    assert counted(ledger) == {"web-1": 1}
    see(ledger, made("b", "web-1"), made("c", "web-2"), made("d", "web-2").in_namespace("x"))
    assert counted(ledger) == {"web-1": 2, "web-2": 1}
    see(ledger, made("b", "web-1").terminating(), made("c", "web-1"))
    assert counted(ledger) == {"web-1": 2}
    ledger.pod_gone("a")
    ledger.pod_gone("c")
    assert counted(ledger) == {}
    ledger.pod_gone("b")
    assert counted(ledger) == {}
    see(ledger, made("e", "web-1"))
    assert counted(ledger) == {"web-1": 1}


@pytest.mark.parametrize("indexed", [True, False])
def test_they_are_found_in_the_order_in_which_they_were_charged(
    monkeypatch: pytest.MonkeyPatch, *, indexed: bool
) -> None:
    if not indexed:
        monkeypatch.setattr(pods_by_controller, "FEW", 0)
    ledger = a_ledger(*LEDGER)
    see(ledger, made("a", "web-1"), made("b", "web-2"), made("c", "web-1"), made("d", "web", "Job"))
    assert found(ledger, "web-1", "web-2", "web") == ["a", "b", "c"]
    see(ledger, made("a", "web-1").with_cpu("1"), made("e", "web-3"))
    assert found(ledger, "web-1", "web-2") == ["b", "c", "a"]
    assert found(ledger, "web-1") == ["c", "a"]
    assert found(ledger, "web-9") == []


def test_very_many_are_not_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pods_by_controller, "FEW", 2)
    monkeypatch.setattr(pods_by_controller, "MANY", 3)
    ledger = a_ledger(*LEDGER)
    see(ledger, made("a", "web-1"), made("b", "web-1"))
    assert counted(ledger) == {"web-1": 2}
    # One that comes and goes would have all of them counted anew each time.
    see(ledger, made("c", "web-1"))
    assert counted(ledger) == {"web-1": 3}
    see(ledger, made("d", "web-1"))
    assert counted(ledger) is None
    ledger.pod_gone("d")
    assert counted(ledger) is None
    assert found(ledger, "web-1") == ["a", "b", "c"]
    ledger.pod_gone("c")
    assert counted(ledger) == {"web-1": 2}


def test_few_namespaces_are_indexed_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pods_by_controller, "INDEXED", 2)
    ledger = a_ledger(*LEDGER)
    for name in ("x", "y", "z"):
        see(ledger, made(name, "web-1").in_namespace(name))
    for name in ("x", "y", "x", "z"):
        assert counted(ledger, name) == {"web-1": 1}
    assert [namespace for _, namespace in ledger.made_pods.indexed] == ["x", "z"]


def of_queue(ledger: Ledger, queue: str = "queue") -> list[str]:
    pods: list[str] = []
    to_its_end(ledger.made_pods.each_of(queue, lambda record: pods.append(record.facts.name)))
    return pods


def test_all_pods_of_a_queue_those_without_a_controller_too() -> None:
    ledger = a_ledger(*LEDGER)
    alone = a_pod("x").with_uid("x").in_queue("queue").naming(H200).asking_for(1).gated()
    other = made("e", "web-1").in_namespace("elsewhere")
    see(ledger, made("a", "web-1"), alone, other, made("z", "web-9").in_queue("other"))
    assert sorted(of_queue(ledger)) == ["a", "e", "x"]
    assert of_queue(ledger, "other") == ["z"]
    assert ledger.made_pods.queues_in("team") == ["queue", "other"]
    assert ledger.made_pods.queues_in("elsewhere") == ["queue"]
    ledger.pod_gone("x")
    ledger.pod_gone("a")
    assert of_queue(ledger) == ["e"]
    ledger.pod_gone("e")
    assert of_queue(ledger) == []
    assert ledger.made_pods.queues_in("elsewhere") == []


def test_a_pod_that_goes_before_its_turn_is_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pods_by_controller, "AT_A_TIME", 1)
    ledger = a_ledger(*LEDGER, made("a", "web-1"), made("b", "web-1"), made("c", "web-1"))
    pods: list[str] = []
    steps = ledger.made_pods.each_in("queue", "team", lambda one: pods.append(one.facts.name))
    next(steps)
    ledger.pod_gone("b")
    see(ledger, made("d", "web-1"))
    to_its_end(steps)
    assert pods == ["a", "c"]

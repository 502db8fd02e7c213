"""R5: which workloads that lack refused pods have room, in the order in which they are asked."""

from collections.abc import Iterable, Mapping

from builders import CARDS, H200, H800, a_group, a_ledger, a_namespace, a_pod, a_queue, see
from builders.pod import PodBody
from cardquota.quota.decisions import RefusedWorkload, refused_workload, with_room
from cardquota.quota.ledger import Ledger
from cardquota.quota.objects import (
    PodMeta,
    PodSpec,
    PodTemplate,
    Workload,
    WorkloadMeta,
    WorkloadSpec,
)
from cardquota.quota.pods.workload_facts import workload_facts


def pod(cards: int = 1, card: str = H200) -> PodBody:
    return a_pod().in_queue("queue").naming(card).asking_for(cards)


def ledger_with(quota: Mapping[str, int]) -> Ledger:
    return a_ledger(*CARDS, a_namespace("team"), a_queue().with_quota(quota))


def refused(
    ledger: Ledger,
    name: str = "web",
    template: PodBody | None = None,
    *,
    wants: int = 1,
    priority_class: str | None = None,
    namespace: str = "team",
) -> RefusedWorkload:
    """A ReplicaSet that lacks all its pods."""
    wire = (template or pod()).wire()
    meta = PodMeta(annotations=wire.metadata.annotations)
    spec = PodSpec(containers=wire.spec.containers, priority_class_name=priority_class)
    facts = workload_facts(
        "ReplicaSet",
        Workload(
            metadata=WorkloadMeta(name=name, namespace=namespace, uid=name),
            spec=WorkloadSpec(replicas=wants, template=PodTemplate(metadata=meta, spec=spec)),
        ),
    )
    assert facts is not None
    found = refused_workload(ledger, facts)
    assert found is not None
    return found


def woken(
    ledger: Ledger, sleepers: Iterable[RefusedWorkload], *expected: RefusedWorkload
) -> list[tuple[str, int]]:
    """Names, and for how many pods; `expected`: whose pods are to come."""
    to_come = [(ledger.request_of(one.pod, "queue"), 1) for one in expected]
    found = with_room(ledger, "queue", sleepers, to_come)
    return [(one[0].facts.name, one[1]) for one in found if one is not None]


def test_r5_as_many_as_have_room_in_that_order() -> None:
    ledger = ledger_with({H200: 3})
    sleepers = [refused(ledger, "a", wants=2), refused(ledger, "b", wants=2), refused(ledger, "c")]
    assert woken(ledger, sleepers) == [("a", 2), ("b", 1)]


def test_r5_pods_that_are_expected_take_their_room() -> None:
    ledger = ledger_with({H200: 2, H800: 1})
    either = refused(ledger, "either", pod(1, f"{H200}|{H800}"))
    sleepers = [refused(ledger, "a", wants=3), refused(ledger, "b", pod(1, H800))]
    assert woken(ledger, sleepers) == [("a", 2), ("b", 1)]
    assert woken(ledger, sleepers, either) == [("a", 1), ("b", 1)]


def test_r5_the_order_of_release() -> None:
    """E6, within a queue: priority class, creation time, name."""
    ledger = ledger_with({H200: 1})
    ledger.priority_class_seen("high", 7)
    high = refused(ledger, "z", priority_class="high")
    low = refused(ledger, "a", priority_class="nobody knows it")
    assert sorted([low, high], key=lambda one: one.sort_key) == [high, low]
    assert (high.sort_key.negated_priority, low.sort_key.negated_priority) == (-7, 0)


def test_r5_a_queue_that_is_gone_wakes_nobody() -> None:
    ledger = ledger_with({H200: 1})
    one = refused(ledger)
    ledger.queue_gone("queue")
    assert woken(ledger, [one]) == []


def test_r5_however_many_have_no_room_the_next_is_asked() -> None:
    ledger = ledger_with({H200: 1})
    large = [refused(ledger, f"large-{n}", pod(n + 2)) for n in range(100)]
    assert woken(ledger, [*large, refused(ledger)]) == [("web", 1)]


def test_r5_where_pods_would_wait_nobody_is_woken() -> None:
    ledger = ledger_with({H200: 1})
    one = refused(ledger)
    for mode in ("audit", "off"):
        see(ledger, a_namespace("team").in_mode(mode))
        assert woken(ledger, [one]) == []
    see(ledger, a_namespace("team"))
    assert woken(ledger, [one]) == [("web", 1)]
    see(ledger, a_queue().with_quota({H200: 1}).with_policy("Gate"))
    assert woken(ledger, [one]) == []


def test_r5_who_may_not_use_the_queue_holds_up_nobody() -> None:
    """Though he asks for the same."""
    ledger = ledger_with({H200: 1})
    see(ledger, a_queue().with_quota({H200: 1}).open_to("team"), a_namespace("evil"))
    evil, one = refused(ledger, "evil", namespace="evil"), refused(ledger)
    assert woken(ledger, [evil, one]) == [("web", 1)]


def test_r5_what_its_group_has_reserved_is_room() -> None:
    """E2: its pods replace that."""
    ledger = ledger_with({H200: 3})
    see(ledger, a_queue().with_quota({H200: 3}).with_policy("Deny"))
    gang = a_group("gang").in_queue("queue").of(3).reserving("queue", {H200: 3})
    see(ledger, gang)
    one = refused(ledger, "web", pod().in_group("gang"), wants=3)
    assert woken(ledger, [one]) == [("web", 3)]


def test_a_template_that_is_not_known_wakes_nobody() -> None:
    ledger = ledger_with({H200: 1})
    facts = refused(ledger).facts
    facts.template = b""
    assert refused_workload(ledger, facts) is None

"""R3: what is kept of a workload, and what is not."""

import json
from typing import Any

import pytest
from msgspec import Raw

from builders import GPU, H200, a_ledger, a_pod
from builders.pod import PodBody
from cardquota.cluster.watch import ChangeNotifier, watched_kinds
from cardquota.quota import limits
from cardquota.quota.objects import (
    LargeWorkload,
    LimitRange,
    LimitRangeItem,
    LimitRangeSpec,
    Meta,
    Workload,
)
from cardquota.quota.pods import PodDefaults, WorkloadFacts, pod_of
from cardquota.quota.pods.workload_facts import workload_facts

POD = a_pod().in_queue("red").naming(H200).asking_for(2)


def body(pod: PodBody = POD, **spec: Any) -> dict[str, Any]:
    template = {
        "metadata": {
            "annotations": pod.body["metadata"].get("annotations"),
            "labels": {"app": "web", "pod-template-hash": "7c5f8bd9c"},
            "resourceVersion": "nonsense",
        },
        "spec": pod.body.get("spec", {}),
    }
    meta = {"name": "web", "namespace": "team", "uid": "u", "resourceVersion": "7"}
    return {"metadata": meta, "spec": {"replicas": 3, "template": template, **spec}}


def read(found: dict[str, Any], kind: str = "Deployment") -> WorkloadFacts | None:
    return workload_facts(kind, Workload.decode(json.dumps(found).encode()))


def kept(found: dict[str, Any], kind: str = "Deployment") -> WorkloadFacts:
    facts = read(found, kind)
    assert facts is not None
    return facts


def test_p1_a_workload_whose_pods_get_cards_from_a_limit_range_alone_is_kept() -> None:
    """So its scale is judged as its pods are."""
    found = Workload.decode(
        json.dumps(body(a_pod().with_spec(containers=[{"name": "main"}]))).encode()
    )
    defaults = PodDefaults()
    item = LimitRangeItem(type="Container", default={GPU: 2})
    meta = Meta(name="l", namespace="team")
    assert workload_facts("Deployment", found, defaults) is None
    defaults.limit_range_seen(LimitRange(metadata=meta, spec=LimitRangeSpec(limits=(item,))))
    facts = workload_facts("Deployment", found, defaults)
    assert facts is not None
    pod = pod_of(facts, "ReplicaSet", defaults)
    assert pod is not None
    assert pod.devices == ((GPU, 2),)


def test_what_the_namespace_adds_is_added_when_it_is_asked() -> None:
    facts, defaults = kept(body()), PodDefaults()
    item = LimitRangeItem(type="Container", default_request={"cpu": "2"})
    meta = Meta(name="l", namespace="team")
    defaults.limit_range_seen(LimitRange(metadata=meta, spec=LimitRangeSpec(limits=(item,))))
    pod = pod_of(facts, "ReplicaSet", defaults)
    assert pod is not None
    assert pod.cpu == 2_000


def test_how_many_it_wants_and_has() -> None:
    by_us = 'admission webhook "pods.cardquota.volcano.sh" denied the request: no room'
    failed = {"type": "ReplicaFailure", "status": "True", "message": by_us}
    found = body() | {"status": {"replicas": 1, "conditions": [failed]}}
    facts = kept(found, "ReplicaSet")
    assert (facts.replicas, facts.present, facts.missing, facts.refused) == (3, 1, 2, True)
    assert facts.certain
    assert not kept(found, "Deployment").refused  # which repeats what its ReplicaSets say
    by_others = {"type": "ReplicaFailure", "status": "True", "message": "exceeded quota"}
    facts = kept(body() | {"status": {"replicas": 1, "conditions": [by_others]}}, "ReplicaSet")
    assert (facts.missing, facts.refused, facts.certain) == (2, True, False)
    over = {"type": "ReplicaFailure", "status": "False"}
    facts = kept(body() | {"status": {"replicas": 4, "conditions": [over]}}, "ReplicaSet")
    assert (facts.missing, facts.refused) == (0, False)
    assert kept(body(replicas=None)).replicas == 1


def lacks(kind: str, status: dict[str, Any], **spec: Any) -> int:
    """How many pods it lacks that we may have refused."""
    facts = kept(body(**spec) | {"status": status}, kind)
    assert not facts.certain
    return facts.missing if facts.refused else 0


def test_a_stateful_set_waits_for_its_pods_one_by_one() -> None:
    assert lacks("StatefulSet", {"replicas": 1, "availableReplicas": 1}) == 2
    assert lacks("StatefulSet", {"replicas": 1, "availableReplicas": 0}) == 0
    parallel = {"podManagementPolicy": "Parallel"}
    assert lacks("StatefulSet", {"replicas": 1, "availableReplicas": 0}, **parallel) == 2
    assert lacks("StatefulSet", {"replicas": 3, "availableReplicas": 3}) == 0


def test_a_daemon_set_lacks_pods_on_nodes() -> None:
    status = {"desiredNumberScheduled": 5, "currentNumberScheduled": 2}
    assert lacks("DaemonSet", status) == 3


def test_a_job_wants_what_it_may_run_at_once() -> None:
    assert lacks("Job", {"active": 1}, parallelism=4) == 3
    assert lacks("Job", {"active": 1, "terminating": 1}, parallelism=4) == 2
    assert lacks("Job", {"active": 1, "succeeded": 7}, parallelism=4, completions=9) == 1
    assert lacks("Job", {}) == 1


@pytest.mark.parametrize(
    "over",
    [
        {"completionTime": "2026-01-01T00:00:00Z"},
        {"conditions": [{"type": "Failed", "status": "True"}]},
    ],
)
def test_a_job_that_is_over_is_not_kept(over: dict[str, Any]) -> None:
    assert read(body() | {"status": over}, "Job") is None
    assert read(body(suspend=True), "Job") is None


def test_pods_without_cards_and_queue_are_none_of_ours() -> None:
    assert read(body(a_pod())) is None
    assert read(body(a_pod().with_cpu("4"))) is None


def test_a_former_replica_set_of_a_deployment_is_not_kept() -> None:
    owner = {"kind": "Deployment", "name": "web", "uid": "d", "controller": True}
    found = body(replicas=0)
    found["metadata"]["ownerReferences"] = [owner]
    assert read(found, "ReplicaSet") is None
    found["spec"]["replicas"] = 1
    assert kept(found, "ReplicaSet").owner == "d"
    owner["kind"] = "Rollout"
    found["spec"]["replicas"] = 0
    assert kept(found, "ReplicaSet").owner == "d"
    del owner["controller"]
    assert kept(found, "ReplicaSet").owner == ""


def test_a_template_beyond_the_limit_is_not_kept() -> None:
    def selecting(value: str) -> dict[str, Any]:
        return body(POD.with_spec(nodeSelector={"a": value}))

    most = limits.TEMPLATE_TEXT.most - len(kept(selecting("")).template)
    assert len(kept(selecting("x" * most)).template) == limits.TEMPLATE_TEXT.most
    beyond = kept(selecting("x" * (most + 1)))
    assert (beyond.template, beyond.replicas) == (b"", 3)
    assert pod_of(beyond, "ReplicaSet", PodDefaults()) is None


def test_p8_a_workload_of_very_many_elements_is_not_kept() -> None:
    many = [{"name": "c" * 90}] * (limits.BODY.most // 90)
    found = body(POD.with_spec(containers=many))
    assert isinstance(Workload.decode(json.dumps(found).encode()), LargeWorkload)
    assert read(found) is None


def test_equal_templates_are_kept_once() -> None:
    one, two = body(), body()
    two["spec"]["template"]["metadata"]["labels"]["job-name"] = "another"
    assert kept(one).template is kept(two).template


@pytest.mark.parametrize("broken", [{"replicas": "x"}, {"template": []}])
def test_what_cannot_be_read_is_left_out(broken: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="Expected"):
        read(body(**broken))


def test_the_watch_takes_them_and_lets_them_go() -> None:
    ledger = a_ledger()
    (kind,) = (
        one
        for one in watched_kinds(ledger, ChangeNotifier(), lambda _: None)
        if one.kind == "deployments"
    )
    delivery, found = kind.delivery(), body()
    delivery.changed(Raw(json.dumps(found).encode()))
    assert len(ledger.workloads) == 1
    found["spec"]["template"] = body(a_pod())["spec"]["template"]
    found["metadata"]["resourceVersion"] = "8"
    delivery.changed(Raw(json.dumps(found).encode()))
    assert len(ledger.workloads) == 0
    delivery.changed(Raw(json.dumps(body()).encode()))
    assert len(ledger.workloads) == 1
    delivery.deleted(Raw(json.dumps(found).encode()))
    assert len(ledger.workloads) == 0

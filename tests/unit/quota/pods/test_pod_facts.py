"""What is kept of a pod: its state, its amounts, and what we stamped on it."""

import msgspec
import pytest

from builders import H200, a_pod
from builders.pod import PodBody
from cardquota.quota import vocabulary as v
from cardquota.quota.objects import Pod
from cardquota.quota.pods import State
from cardquota.quota.pods.pod_facts import pod_facts


def test_the_least_a_pod_may_be_is_read() -> None:
    facts = pod_facts(msgspec.json.decode(b'{"metadata": {}}', type=Pod))
    assert (facts.uid, facts.state, facts.revision) == ("", State.OPEN, 0)
    assert not facts.concerns_us


def test_p4_amounts_that_cannot_be_counted_are_a_problem_not_a_crash() -> None:
    facts = a_pod().asking_for("-1").with_cpu("1").facts()
    assert (facts.devices, facts.cpu) == ((), 0)
    assert "negative" in facts.problem
    assert facts.concerns_us


def test_p6_negative_cpu_is_a_problem() -> None:
    facts = a_pod().with_memory("1Gi").with_spec(overhead={"cpu": "-1"}).facts()
    assert (facts.cpu, facts.memory) == (0, 0)
    assert "negative" in facts.problem


def test_a_stamp_is_read_once_the_gate_is_open() -> None:
    pod = a_pod().stamped("queue", {H200: 2}, term="host_1")
    stamp = pod.facts().stamp
    assert stamp is not None
    assert (stamp.queue, stamp.cards, stamp.term) == ("queue", ((H200, 2),), "host_1")
    assert pod.gated().facts().stamp is None


@pytest.mark.parametrize(
    ("key", "value"),
    [(v.ALLOCATED, None), (v.ALLOCATED, "{"), (v.CHARGED_QUEUE, None), (v.TERM, None)],
)
def test_a_stamp_that_is_not_whole_is_none(key: str, value: str | None) -> None:
    assert a_pod().stamped("queue", {H200: 2}).annotated(key, value).facts().stamp is None


def test_i3_without_our_label_nothing_counts_as_written_by_us() -> None:
    """Whoever may write its status may have written it."""
    stamped = a_pod().stamped("queue", {H200: 2}).put(None, "metadata", "labels", v.MANAGED)
    assert not stamped.facts().labelled
    assert stamped.facts().stamp is None
    assert stamped.facts().forged
    noted = a_pod().annotated(v.TERM, "term-1")
    assert not noted.facts().admitted_in_audit
    assert noted.managed().facts().admitted_in_audit


@pytest.mark.parametrize("value", ["true", "", "false"])
def test_i3_the_label_counts_whatever_its_value(value: str) -> None:
    """As for the API server, which looks at the writes of each pod that has it."""
    stamped = a_pod().stamped("queue", {H200: 2}).labelled(v.MANAGED, value)
    assert stamped.facts().labelled
    assert stamped.facts().stamp is not None
    assert not stamped.facts().forged


@pytest.mark.parametrize("key", [v.ALLOCATED, v.CHARGED_QUEUE])
def test_i3_part_of_a_stamp_without_the_label_is_forged(key: str) -> None:
    assert a_pod().annotated(key, "").facts().forged
    assert not a_pod().annotated(v.TERM, "t").facts().forged
    assert not a_pod().facts().forged


MADE = a_pod("chat-7d9f8-x").owned_by("ReplicaSet", name="chat-7d9f8")
JOB = a_pod("train-x").owned_by("Job", name="train-1")


@pytest.mark.parametrize(
    ("pod", "kind", "name"),
    [
        (MADE.labelled("pod-template-hash", "7d9f8"), "Deployment", "chat"),
        # Its ReplicaSet may be somebody's own, with a name of his own.
        (MADE, "ReplicaSet", "chat-7d9f8"),
        (MADE.labelled("pod-template-hash", "d9f8"), "ReplicaSet", "chat-7d9f8"),
        (MADE.labelled("pod-template-hash", "chat-7d9f8"), "ReplicaSet", "chat-7d9f8"),
        (JOB.labelled("pod-template-hash", "1"), "Job", "train-1"),
        (a_pod("alone"), "Pod", "alone"),
        (a_pod("static-node-7").owned_by("Node", "v1", "node-7"), "Pod", "static-node-7"),
    ],
)
def test_a_pods_workload_is_its_deployment_as_far_as_labels_tell_or_else_its_controller(
    pod: PodBody, kind: str, name: str
) -> None:
    assert (pod.facts().workload_kind, pod.facts().workload) == (kind, name)


def test_equal_parts_of_many_pods_are_kept_once() -> None:
    one = a_pod("a").asking_for(1).stamped("queue", {H200: 1}).facts()
    other = a_pod("b").asking_for(1).stamped("queue", {H200: 1}).facts()
    assert one.devices is other.devices
    assert one.stamp is other.stamp

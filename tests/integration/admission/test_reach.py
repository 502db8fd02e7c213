"""Which pods reach us at all, and how strict we are where (section 2)."""

import pytest

from builders import H200, a_pod
from builders.pod import PodBody
from cardquota.quota import vocabulary as v
from cardquota_dev.testing import Cluster
from harness.newer_kubernetes import DEVICE_CLASSES_AS_RESOURCES
from integration.asking import ask, metric
from integration.team import Team, released


def reviews(team: Team) -> float:
    return metric(team.cluster, "cardquota_admission_reviews_total", kind="pods")


def stock(name: str) -> PodBody:
    """A pod of a stock chart: it asks for a card and knows nothing of quotas."""
    return a_pod(name).asking_for(1)


def test_pods_without_cards_and_queues_never_reach_us(team: Team) -> None:
    """Installing must never stop a cluster: these go on whatever happens to us."""
    before = reviews(team)
    for number in range(3):
        assert team.create(a_pod(f"plain-{number}").with_cpu("1")).ok
    assert reviews(team) == before
    assert team.create(stock("card")).ok
    assert reviews(team) == before + 1


def test_kube_system_never_reaches_us(product_plane: Cluster, team: Team) -> None:
    """Exempt namespaces: not even with a card in a queue that does not exist."""
    before = reviews(team)
    pod = team.wire(team.a_pod("a", 1, H200, queue="nowhere"))
    pod["metadata"]["namespace"] = "kube-system"
    assert ask(product_plane, "POST", "/api/v1/namespaces/kube-system/pods?dryRun=All", pod).ok
    assert reviews(team) == before


@pytest.mark.newer_kubernetes(DEVICE_CLASSES_AS_RESOURCES)
def test_nor_does_it_admit_devices_of_a_device_class_asked_for_as_a_resource(
    team: Team, unique: str
) -> None:
    """P7: by the name that follows from the class's own, and by the one that the class gives."""
    team.has_queue({H200: 3})
    given = f"{unique}.example/npu"
    device_class = {"metadata": {"name": unique}, "spec": {"extendedResourceName": given}}
    reply = ask(team.cluster, "POST", "/apis/resource.k8s.io/v1/deviceclasses", device_class)
    assert reply.code == 201, reply
    assert reply.body["spec"].get("extendedResourceName") == given
    implicit = f"deviceclass.resource.kubernetes.io/{unique}"
    told = "no quota counts devices claimed by spec.resourceClaims or from a DeviceClass"
    for resource in (given, implicit):
        pod = team.a_pod("a").asking_for(1, resource)
        team.until(lambda p=pod: team.create(p, dry=True).warnings == (told,), "the class is seen")
        assert team.create(a_pod("b").asking_for(1, resource), dry=True).warnings == ()
    team.set_mode("enforced")
    team.until(lambda: not team.create(stock("s"), dry=True).ok, "enforced")
    for resource in (given, implicit):
        for pod in (team.a_pod("a"), a_pod("b")):
            reply = team.create(pod.asking_for(1, resource))
            assert reply.reason == v.Reason.DEVICE_CLAIMED, reply
            assert "cannot be counted by card" in reply.message
    assert team.create(a_pod("other").asking_for(1, "other.example/device")).ok
    gone = ask(team.cluster, "DELETE", f"/apis/resource.k8s.io/v1/deviceclasses/{unique}")
    assert gone.ok
    team.until(lambda: team.create(a_pod("c").asking_for(1, given), dry=True).ok, "its end is seen")


def test_a_namespace_that_is_off_is_left_alone(team: Team) -> None:
    team.set_mode("off")
    pod = team.a_pod("a", 5, H200, queue="nowhere")
    team.until(lambda: team.create(pod, dry=True).ok, "the API server sees the label")
    before = reviews(team)
    reply = team.create(pod)
    assert reply.ok
    assert released(reply.body)
    assert reviews(team) == before


def test_the_queue_of_a_namespace_is_a_default_only(team: Team) -> None:
    """Another queue named by the pod is no disagreement."""
    default, mine = team.has_queue({H200: 3}, name="default"), team.has_queue({H200: 3})
    team.mark(annotations={v.QUEUE_NAME: default})
    assert team.create(team.a_pod("a", 1, H200)).ok
    team.until_open("a")
    assert team.pod("a")["metadata"]["annotations"][v.CHARGED_QUEUE] == mine


def test_e2_a_pod_is_reviewed_once(team: Team) -> None:
    """Whatever the queue does with pods that lack room, and whatever the namespace demands."""
    for name, policy, mode in (("a", "Gate", None), ("b", None, None), ("c", None, "enforced")):
        team.has_queue(team.a_queue({H200: 1}, name).with_policy(policy), name)
        team.set_mode(mode)
        if mode == "enforced":
            team.until(lambda: not team.create(stock("s"), dry=True).ok, "enforced")
        before = reviews(team)
        reply = team.create(team.a_pod(name, 1, H200, queue=name))
        assert reviews(team) == before + 1
        assert reply.body["metadata"]["labels"][v.MANAGED] == v.IS_MANAGED

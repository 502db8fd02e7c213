"""Cpu and memory changed in place, without a gate that could hold them back (P6)."""

import pytest

from builders import GPU, a_pod
from builders.pod import PodBody
from cardquota.quota import vocabulary as v
from integration.asking import ApiReply, Object, ask
from integration.roomy_nodes import T1000
from integration.team import Team

from .people import MIGHTY

STRATEGIC = "application/strategic-merge-patch+json"


def resize(team: Team, pod: PodBody, *, dry: bool = False, **requests: str) -> ApiReply:
    body = {"spec": {"containers": [{"name": "main", "resources": {"requests": requests}}]}}
    path = f"{team.path(pod)}/{pod.name}/resize{'?dryRun=All' if dry else ''}"
    return ask(team.cluster, "PATCH", path, body, content_type=STRATEGIC, as_user=MIGHTY)


def running(team: Team, name: str, *, queued: bool = True) -> PodBody:
    """Bound, with one core and 1Gi, on a node that says it could resize it."""
    pod = team.a_pod(name, 1, T1000) if queued else a_pod(name)
    pod = pod.with_cpu("1").with_memory("1Gi")
    assert team.create(pod).ok
    team.until_bound(name)
    team.until(lambda: team.pod(name)["status"]["phase"] == "Running", f"{name} runs")
    status = {
        "name": "main",
        "image": "i",
        "imageID": "",
        "ready": True,
        "restartCount": 0,
        "resources": {"requests": {"cpu": "1", "memory": "1Gi"}},
    }
    assert team.patch(pod, {"status": {"containerStatuses": [status]}}, sub="/status").ok
    return pod


def resource(team: Team, name: str) -> Object:
    return next((r for r in team.status().get("resources", ()) if r["name"] == name), {})


@pytest.mark.slow
def test_growth_is_counted_at_once_and_refused_beyond_the_limit(people: Team) -> None:
    """To the last core, then not a milli-core more, in the words of every refusal."""
    queue = people.has_queue(people.a_queue({T1000: 3}).limited_to(cpu="4", memory="8Gi"))
    pod, _ = running(people, "a"), running(people, "b")
    people.until(lambda: resource(people, "cpu").get("allocated") == "2", "2 cores")

    assert resize(people, pod, cpu="3").ok
    people.until(lambda: resource(people, "cpu").get("allocated") == "4", "4 cores")

    more = resize(people, pod, cpu="3500m")
    assert (more.code, more.reason) == (403, v.Reason.INSUFFICIENT_CPU)
    assert (
        f"Queue <{queue}> has insufficient <cpu> quota: requested <3.5>, total would be <4.5>, "
        "but capability is <4>"
    ) in more.message
    never = resize(people, pod, memory="9Gi")
    assert never.reason == v.Reason.INSUFFICIENT_MEMORY
    assert "ask for at most 8Gi" in never.message

    # What it held counts until its node has carried that out: nothing here does.
    assert resize(people, pod, cpu="500m").ok
    people.until(lambda: resource(people, "cpu").get("requested") is not None, "the queue's cpu")
    assert resource(people, "cpu").get("allocated") == "4"


def test_a_dry_run_of_a_resize_counts_for_nobody(people: Team) -> None:
    people.has_queue(people.a_queue({T1000: 3}).limited_to(cpu="4"))
    pod = running(people, "a")
    assert resize(people, pod, dry=True, cpu="4").ok
    assert not resize(people, pod, dry=True, cpu="5").ok
    assert resize(people, pod, cpu="4").ok


def test_what_waits_at_the_gate_waits_with_its_new_amounts(people: Team) -> None:
    """It may grow to what could ever fit, and goes only when that fits."""
    queue = people.a_queue({T1000: 1}).limited_to(cpu="4").with_policy("Gate")
    people.has_queue(queue)
    holder = running(people, "holder")
    waits = people.a_pod("waits", 1, T1000).with_cpu("1")
    assert people.create(waits).ok
    assert not resize(people, waits, cpu="5").ok
    assert resize(people, waits, cpu="4").ok
    people.set_quota({T1000: 2})
    told = people.until_told("waits", v.Reason.INSUFFICIENT_CPU)
    assert "requested <4>, total would be <5>, but capability is <4>" in told["message"]
    assert people.delete(holder).ok
    people.until_bound("waits")


def test_an_amount_beyond_counting_is_refused_and_what_is_held_stays_counted(people: Team) -> None:
    """No kubelet would grant it, so the pod would run on with what it has, uncounted."""
    queue = people.a_queue({T1000: 1}).limited_to(cpu="4").with_policy("Gate")
    people.has_queue(queue)
    pod = running(people, "a")
    waits = people.a_pod("waits", 1, T1000).with_cpu("1")
    assert people.create(waits).ok
    for one in (pod, waits):
        assert resize(people, one, cpu=str(2**63 - 1)).code == 403
    refused = resize(people, waits, cpu=str(2**63 - 1))
    assert refused.reason == v.Reason.INVALID_CARD
    assert (
        f"Queue <{queue.name}>: resource cpu: <{2**63 - 1}> is more than can be counted; "
        "correct the pod's amounts or annotations"
    ) in refused.message
    people.until(lambda: resource(people, "cpu").get("requested") == "2", "2 cores")
    assert resource(people, "cpu")["allocated"] == "1"


def test_a_closed_queue_takes_no_growth_within_its_limits_either(people: Team) -> None:
    """Q6. What shrinks gives back, so it is admitted; open again, it may grow again."""
    queue = people.a_queue({T1000: 3}).limited_to(cpu="8")
    people.has_queue(queue)
    pod = running(people, "a")
    assert people.annotate(queue, v.QUEUE_STATE, "Closed").ok
    people.until(lambda: not resize(people, pod, dry=True, cpu="2").ok, "closed for the operator")

    refused = resize(people, pod, cpu="2")
    assert (refused.code, refused.reason) == (403, v.Reason.QUEUE_NOT_OPEN)
    assert (
        f"Queue <{queue.name}> is Closed, so the pod cannot get more: cpu from" in refused.message
    )
    assert resize(people, pod, cpu="500m").ok

    assert people.annotate(queue, v.QUEUE_STATE, None).ok
    people.until(lambda: resize(people, pod, cpu="2").ok, "open again")


def test_cards_are_not_resized_and_pods_without_a_queue_as_ever(people: Team) -> None:
    """The first by the API server itself."""
    people.has_queue(people.a_queue({T1000: 3}).limited_to(cpu="4"))
    pod = running(people, "a")
    for amount in ("0", "2"):
        resources = {"limits": {GPU: amount}, "requests": {GPU: amount}}
        body = {"spec": {"containers": [{"name": "main", "resources": resources}]}}
        path = f"{people.path(pod)}/a/resize"
        reply = ask(people.cluster, "PATCH", path, body, content_type=STRATEGIC, as_user=MIGHTY)
        assert reply.code == 422
        assert "only cpu and memory resources are mutable" in reply.message
    plain = running(people, "plain", queued=False)
    assert resize(people, plain, cpu="100").ok

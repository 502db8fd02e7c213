"""I3: a charge lands only where it was judged; what runs stays where it was."""

import pytest

from builders import GPU, a_group, a_pod
from builders.pod import PodBody
from cardquota.quota import vocabulary as v
from integration.asking import ApiReply, ask
from integration.roomy_nodes import T1000
from integration.team import Team, gates, notes, of_a_job

from .people import MIGHTY, TENANT
from .test_resizes import resize, resource, running

MADE_BY_VOLCANO = "podgroup-0d9c39a2-8a4b-4c39-9d0e-3f4d2f0e6a11"


def labelled(team: Team, mode: str | None, queue: str | None = None) -> None:
    """Returns once the webhook knows."""
    team.mark(labels={v.NAMESPACE_MODE: mode}, annotations={v.QUEUE_NAME: queue})

    def known() -> bool:
        made = team.create(team.a_pod("probe", 1, T1000), dry=True)
        ungated = made.ok and gates(made.body) == []  # where rules hold it may be refused
        return ungated is (mode in ("audit", "off"))

    team.until(known, f"the webhook has heard of the mode {mode}")


def elsewhere(team: Team, cards: int) -> ApiReply:
    """A pod of another namespace in the same queue, as a dry run."""
    pod = team.wire(team.a_pod("honest", cards, T1000))
    pod["metadata"]["namespace"] = "default"
    return ask(team.cluster, "POST", "/api/v1/namespaces/default/pods?dryRun=All", pod)


@pytest.mark.parametrize("mode", ["audit", "off"])
def test_where_nothing_is_enforced_nobody_spends_the_quota_of_others(
    people: Team, mode: str
) -> None:
    """By pods that never get a node, with the gate or without, or by pods where it is not open."""
    people.has_queue(people.a_queue({T1000: 3}).open_to("default"))
    labelled(people, mode)
    for name in ("huge", "gated"):
        pod = people.a_pod(name, 1_000, T1000).on_nodes_labelled({"example.com/where": "nowhere"})
        pod = pod.gated() if name == "gated" else pod
        assert people.create(pod, as_user=TENANT).ok
    there = people.a_pod("there", 2, T1000).on_nodes_labelled({f"{GPU}.product": T1000})
    assert people.create(there, as_user=TENANT).ok
    people.until_bound("there")
    people.until(lambda: gates(people.pod("gated")) == [], "the gate opens")
    people.until_row(T1000, requested=0, inqueue=0, allocated=0)
    assert elsewhere(people, 3).ok
    assert people.condition(v.Condition.OVER_QUOTA)["status"] != "True"
    labelled(people, "enforced")
    assert elsewhere(people, 3).ok
    people.until_row(T1000, requested=0, inqueue=0, allocated=0)


def test_in_audit_mode_a_bound_pod_counts_in_a_queue_that_is_open_to_it(people: Team) -> None:
    """And stays there, whatever it or its namespace names later."""
    people.has_queue({T1000: 3})
    people.has_queue({T1000: 3}, "other")
    labelled(people, "audit")
    pod = people.a_pod("a", 2, T1000).on_nodes_labelled({f"{GPU}.product": T1000})
    assert people.create(pod, as_user=TENANT).ok
    people.until_row(T1000, allocated=2)
    queue = people.queue_name()
    people.until(lambda: notes(people.pod("a")).get(v.CHARGED_QUEUE) == queue, "the queue on it")
    moved = people.annotate(pod, v.QUEUE_NAME, people.queue_name("other"), as_user=TENANT)
    assert moved.ok, moved
    labelled(people, "enforced", people.queue_name("other"))
    assert people.create(people.a_pod("b", 1, T1000)).ok
    people.until_row(T1000, allocated=3)
    people.until_row(T1000, "other", allocated=0, requested=0)


def test_a_pod_that_runs_in_no_queue_is_put_into_none(people: Team) -> None:
    """By the group that Volcano makes for it, or by its namespace."""
    victim = people.has_queue({T1000: 3})
    pod = a_pod("free").asking_for(2).on_nodes_labelled({f"{GPU}.product": T1000})
    assert people.create(pod, as_user=TENANT).ok
    people.until_bound("free")
    group = a_group(MADE_BY_VOLCANO).in_queue("default")
    assert people.create(group).ok
    people.until(lambda: notes(people.pod("free")).get(v.CHARGED_QUEUE) == "", "said on it")
    # Volcano's own account alone may do this; where that is missing, nobody may.
    people.annotate(pod, v.GROUP_NAME, MADE_BY_VOLCANO, as_user=MIGHTY)
    assert people.patch(group, {"spec": {"queue": victim}}, as_user=TENANT).ok
    labelled(people, "enforced", victim)
    assert people.create(people.a_pod("honest", 3, T1000)).ok
    people.until_row(T1000, allocated=3, requested=3)


def test_a_group_that_moves_takes_only_those_who_wait(people: Team) -> None:
    """Who runs stays charged where it was; who waits is judged in the other queue."""
    people.has_queue({T1000: 1})
    people.has_queue({T1000: 1}, "victim")
    group = people.a_gang("gang", 1)
    assert people.create(group).ok

    def member(name: str) -> PodBody:
        return of_a_job(people.a_pod(name, 1, T1000).in_queue(None).in_group("gang"))

    for name in ("a", "b"):
        assert people.create(member(name), as_user=TENANT).ok
    people.until_row(T1000, allocated=1, requested=2)
    victim = people.queue_name("victim")
    assert people.patch(group, {"spec": {"queue": victim}}, as_user=TENANT).ok
    people.until_row(T1000, "victim", allocated=1, requested=1)
    people.until_row(T1000, allocated=1, requested=1)


def test_a_resize_frees_nothing_before_the_node_has_carried_it_out(people: Team) -> None:
    people.has_queue(people.a_queue({T1000: 3}).limited_to(cpu="1"))
    pod = running(people, "a")
    people.until(lambda: resource(people, "cpu").get("allocated") == "1", "1 core")
    assert resize(people, pod, cpu="100m").ok
    more = people.a_pod("b", 1, T1000).with_cpu("900m")
    refused = people.create(more, as_user=TENANT)
    assert refused.reason == v.Reason.INSUFFICIENT_CPU
    statuses = people.pod("a")["status"]["containerStatuses"]
    statuses[0]["resources"] = {"requests": {"cpu": "100m", "memory": "1Gi"}}
    assert people.patch(pod, {"status": {"containerStatuses": statuses}}, sub="/status").ok
    people.until(lambda: people.create(more, dry=True).ok, "the room is free")

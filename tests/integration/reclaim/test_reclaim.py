"""L3 to L6, with kube-scheduler and the Eviction API: lent cards come back to who is owed them."""

import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager

import pytest

from builders import a_pod
from cardquota.quota import vocabulary as v
from cardquota_dev.testing import Cluster
from integration.asking import MERGE, ask, metric
from integration.plugin import plugin
from integration.team import QUEUES, Team, released
from integration.workload_bodies import create

from .lent import BORROWER, OWNER, Lent

pytestmark = [pytest.mark.plane, pytest.mark.disruptive]


def budget(team: Team, pods: int, **labels: str) -> None:
    """A PodDisruptionBudget that keeps one of so many pods, once these are counted."""
    body = {
        "apiVersion": "policy/v1",
        "kind": "PodDisruptionBudget",
        "metadata": {"name": "keep"},
        "spec": {"minAvailable": 1, "selector": {"matchLabels": labels}},
    }
    path = f"/apis/policy/v1/namespaces/{team.namespace}/poddisruptionbudgets"
    assert (reply := ask(team.cluster, "POST", path, body)).ok, reply

    def counted() -> bool:
        status = ask(team.cluster, "GET", f"{path}/keep").body.get("status", {})
        return bool(status.get("currentHealthy") == pods and status.get("observedGeneration") == 1)

    team.until(counted, "the budget is counted")


def test_pods_of_a_deployment_and_a_job_end_for_who_is_owed_their_cards(lent: Lent) -> None:
    team = lent.team
    job = team.a_pod("train", 1, lent.card, BORROWER).annotated("cardquota.dev/run-seconds", "3600")
    assert create(team, "Job", job, parallelism=1, completions=1).ok
    team.until_row(lent.card, BORROWER, allocated=1)
    time.sleep(1.1)  # by the second it is the oldest, whose turn is last
    service = team.a_pod("web", 1, lent.card, BORROWER)
    assert create(team, "Deployment", service, replicas=3).ok
    team.until_row(lent.card, BORROWER, allocated=4)
    with team.watching() as watch:
        assert team.create(lent.pod("owed", OWNER, cards=2)).ok
        start = watch.first(
            lambda s: s.name == "owed" and bool(s.object["spec"].get("nodeName")), "it is bound"
        )
        seen = list(watch.seen)
    ended = {one.name for one in seen if one.type == "DELETED"}
    assert len(ended) == 2
    assert all(name.startswith("web-") for name in ended)
    bound_at = {
        s.name: c["lastTransitionTime"]
        for s in seen
        for c in s.object.get("status", {}).get("conditions", ())
        if c["type"] == "PodScheduled" and c["status"] == "True"
    }
    for name in ended:
        told = team.until_told(name, v.RECLAIMED)
        assert (
            f"of them were borrowed, those of this pod since <{bound_at[name]}>" in told["message"]
        )
        assert f"pod <{team.namespace}/owed> of Queue <{team.queue_name(OWNER)}>" in told["message"]
        assert "and deserves <2>, so <" in told["message"]
    assert "2 pods of Queue" in team.until_told("owed", v.ROOM_MADE)["message"]
    # Its controller makes others, which have to wait until it has started.
    known = {one.name for one in seen if one.type == "ADDED"} - {"owed"}
    opened = [s for s in seen if s.name in known and not s.object["spec"].get("schedulingGates")]
    assert all(one.at >= start.at for one in opened)
    team.until_row(lent.card, BORROWER, allocated=2)
    time.sleep(5)
    assert team.row(lent.card, OWNER)["allocated"] == 2


def test_whom_a_budget_keeps_stays_and_the_next_one_ends(lent: Lent) -> None:
    team = lent.team
    lent.runs("r0", "r1", "r2")
    time.sleep(1.1)  # by the second it is the youngest, whose turn is first
    kept = lent.pod("kept").labelled("keep", "yes")
    assert team.create(kept).ok
    team.until_bound("kept")
    team.until(
        lambda: any(c["type"] == "Ready" for c in team.pod("kept")["status"]["conditions"]), "ready"
    )
    budget(team, 1, keep="yes")
    assert team.create(lent.pod("owed", OWNER)).ok
    team.until_bound("owed")
    (ended,) = lent.gone_of("r0", "r1", "r2", "kept")
    assert ended != "kept"


def test_a_gang_of_which_a_budget_lets_one_end_stays_whole(lent: Lent) -> None:
    team = lent.team
    lent.runs("r0", "r1")
    time.sleep(1.1)  # by the second the gang is the youngest, whose turn is first
    gang = team.a_gang("gang", 2, BORROWER)
    assert team.create(gang).ok
    names = ["g0", "g1"]
    for name in names:
        pod = lent.pod(name).in_group("gang").in_queue(None).labelled("keep", "gang")
        assert team.create(pod).ok
    team.until_bound(*names)
    budget(team, 2, keep="gang")
    assert team.create(lent.pod("owed", OWNER)).ok
    team.until_bound("owed")
    (ended,) = lent.gone_of("r0", "r1", *names)
    assert ended in ("r0", "r1")


@contextmanager
def a_pause(cluster: Cluster) -> Iterator[str]:
    assert plugin(cluster.kubeconfig, "pause", "--yes").returncode == 0
    try:
        yield "ValidatingAdmissionPolicy"
    finally:
        assert plugin(cluster.kubeconfig, "resume", "--yes").returncode == 0


@contextmanager
def no_check_of_the_term(cluster: Cluster) -> Iterator[str]:
    path = "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicybindings"
    name = "cardquota-eviction-term"
    spec = ask(cluster, "GET", f"{path}/{name}").body["spec"]
    assert ask(cluster, "DELETE", f"{path}/{name}").ok
    try:
        yield "ValidatingAdmissionPolicyBinding"
    finally:
        assert ask(cluster, "POST", path, {"metadata": {"name": name}, "spec": spec}).ok


@pytest.mark.long
@pytest.mark.parametrize("broken", [a_pause, no_check_of_the_term])
def test_l5_nobody_ends_while_what_is_installed_is_not_as_rendered(
    lent: Lent, broken: Callable[[Cluster], AbstractContextManager[str]]
) -> None:
    """In a pause it is not (U1); nor while nothing keeps a former leader from evicting."""
    team = lent.team
    queue = f"{QUEUES}/{team.queue_name(OWNER)}"

    def say(mode: str | None) -> None:
        change = {"metadata": {"annotations": {v.QUEUE_RECLAIM: mode}}}
        assert ask(team.cluster, "PATCH", queue, change, content_type=MERGE).ok

    say("off")
    lent.runs("r0", "r1", "r2", "r3")
    assert team.create(lent.pod("owed", OWNER)).ok
    team.until(lambda: released(team.pod("owed")), "it is released")
    with broken(team.cluster) as kind:
        faults = "cardquota_installation_faults"
        team.until(lambda: metric(team.cluster, faults, kind=kind) > 0, "it is seen")
        say(None)
        time.sleep(8)
        assert lent.there() == ["owed", "r0", "r1", "r2", "r3"]
    team.until_bound("owed")
    assert len(lent.gone_of("r0", "r1", "r2", "r3")) == 1


def test_a_gang_gets_room_as_a_whole(lent: Lent) -> None:
    team = lent.team
    lent.runs("r0", "r1", "r2", "r3")
    gang = team.a_gang("gang", 2, OWNER)
    assert team.create(gang).ok
    for name in ("m0", "m1"):
        assert team.create(lent.pod(name, OWNER).in_group("gang").in_queue(None)).ok
    team.until_bound("m0", "m1")
    assert len(lent.gone_of("r0", "r1", "r2", "r3")) == 2
    assert team.until_told("gang", v.ROOM_MADE)
    team.until(lambda: lent.plan_of(team.get(gang)) is None, "nothing stands on it")


def test_a_dry_run_of_a_queue_ends_nobody(lent: Lent) -> None:
    team = lent.team
    queue = f"{QUEUES}/{team.queue_name(OWNER)}"
    change = {"metadata": {"annotations": {v.QUEUE_RECLAIM: "dryRun"}}}
    assert ask(team.cluster, "PATCH", queue, change, content_type=MERGE).ok
    lent.runs("r0", "r1", "r2", "r3")
    assert team.create(lent.pod("owed", OWNER)).ok
    told = team.until_told("owed", v.WOULD_RECLAIM)
    assert "1 pod of Queue" in told["message"]
    time.sleep(4)
    assert lent.there() == ["owed", "r0", "r1", "r2", "r3"]
    assert lent.plan_of(team.pod("owed")) is None


def test_a_higher_priority_gets_the_quota_of_a_lower_one(lent: Lent, unique: str) -> None:
    team = lent.team
    name = f"{unique}-high"
    body = {
        "apiVersion": "scheduling.k8s.io/v1",
        "kind": "PriorityClass",
        "metadata": {"name": name},
        "value": 1000,
    }
    path = "/apis/scheduling.k8s.io/v1/priorityclasses"
    assert ask(team.cluster, "POST", path, body).ok
    try:
        lent.runs("r0", "r1", "r2", "r3")
        assert team.create(lent.pod("same")).ok
        assert team.create(lent.pod("high").with_spec(priorityClassName=name)).ok
        team.until_bound("high")
        (ended,) = lent.gone_of("r0", "r1", "r2", "r3")
        told = team.until_told(ended, v.PREEMPTED)
        assert "of priority <1000>" in told["message"]
        assert not team.pod("same")["spec"].get("nodeName")
    finally:
        ask(team.cluster, "DELETE", f"{path}/{name}")


def test_nobody_but_the_operator_writes_what_ends(lent: Lent) -> None:
    team = lent.team
    lent.runs("r0")
    reply = team.annotate(a_pod("r0"), v.RECLAIM_PLAN, "{}")
    assert reply.code == 422 or reply.code == 403
    assert v.RECLAIM_PLAN in reply.message

"""Break-glass (U1-U4): quotas are paused and resumed, while users do what they like. For both ways
of setting the gate.
"""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Event, Thread
from typing import Any

import pytest
import yaml

from builders import a_pod
from builders.pod import PodBody
from cardquota.quota import vocabulary as v
from cardquota_dev.demo.recount import recount, written
from cardquota_dev.testing import Cluster, eventually, fresh_namespace, running_plane
from integration.asking import Object, ask, metric
from integration.plugin import plugin
from integration.roomy_nodes import T1000, add_roomy_nodes
from integration.team import QUEUES, Team, of_a_job, released

from .outage import nobody_there, on_t1000
from .running import QUICK

BY_WEBHOOK = pytest.mark.parametrize("cluster", ["webhook"], indirect=True)
"""Where it makes no difference what sets the gate."""
pytestmark = [pytest.mark.plane, pytest.mark.disruptive, pytest.mark.long]

GROUPS = f"/apis/{v.API_GROUP}/{v.VERSION}/podgroups"
ADMISSION = "/apis/admissionregistration.k8s.io/v1"
KINDS = (
    *("mutatingwebhookconfigurations", "validatingwebhookconfigurations"),
    *("validatingadmissionpolicies", "validatingadmissionpolicybindings"),
    *("mutatingadmissionpolicies", "mutatingadmissionpolicybindings"),
)


@pytest.fixture(scope="module", params=["webhook", "policy"])
def cluster(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Cluster]:
    folder = tmp_path_factory.mktemp("pause")
    config = folder / "config.yaml"
    config.write_text(yaml.safe_dump({**QUICK, "webhook": {"gate": request.param}}))
    with running_plane(folder / "plane", config=config) as found:
        add_roomy_nodes(found)
        yield found


@pytest.fixture
def team(cluster: Cluster, unique: str) -> Iterator[Team]:
    with fresh_namespace(cluster, unique) as namespace:
        yield Team(cluster, namespace, unique)
        assert plugin(cluster.kubeconfig, "resume", "--yes").returncode == 0


def done(cluster: Cluster, *words: str) -> Object:
    """A command that succeeds: its steps and notes."""
    result = plugin(cluster.kubeconfig, *words, "-o", "json")
    assert (result.returncode, result.stderr) == (0, "")
    found: Object = json.loads(result.stdout)
    return found


def admission(cluster: Cluster) -> dict[tuple[str, str], Object]:
    """What is installed, without what changes by itself: metadata, CAs and paths."""
    found: dict[tuple[str, str], Object] = {}
    for kind in KINDS:
        for one in ask(cluster, "GET", f"{ADMISSION}/{kind}").body["items"]:
            for webhook in one.get("webhooks", ()):
                del webhook["clientConfig"]
            annotations = one["metadata"].get("annotations", {})
            annotations.pop("kubectl.kubernetes.io/last-applied-configuration", None)
            kept = {key: one.get(key) for key in ("spec", "webhooks")}
            found[kind, one["metadata"]["name"]] = {**kept, "annotations": annotations}
    return found


def waiting(team: Team, name: str, cards: int) -> PodBody:
    """A pod that waits where it does not fit now."""
    return of_a_job(on_t1000(team.a_pod(name, cards, T1000)))


def are_totals_exact(team: Team) -> bool:
    """I2: the operator's numbers, and a recount by other code."""
    pods = ask(team.cluster, "GET", "/api/v1/pods").body["items"]
    groups = ask(team.cluster, "GET", GROUPS).body["items"]
    queues = ask(team.cluster, "GET", QUEUES).body["items"]
    return recount(pods, groups, queues) == written(queues)


@contextmanager
def creating(team: Team) -> Iterator[list[Object]]:
    """Somebody who creates pods without a pause, in a queue with room: all answers."""
    stopped, answers = Event(), list[Object]()

    def create() -> None:
        number = 0
        while not stopped.wait(0.05):
            pod = waiting(team, f"steady-{number}", 1)
            reply = team.create(pod)
            answers.append({"code": reply.code, "message": reply.message, "pod": reply.body})
            number += 1

    thread = Thread(target=create)
    thread.start()
    try:
        yield answers
    finally:
        stopped.set()
        thread.join()


@BY_WEBHOOK
def test_u1_a_dry_run_changes_nothing(cluster: Cluster, team: Team) -> None:
    before = admission(cluster)
    for words in (("pause",), ("pause", "--release"), ("resume",), ("uninstall", "--gates=open")):
        found = done(cluster, *words)
        assert found["dryRun"] is True
        assert bool(found["steps"]) is (words != ("resume",))
    assert admission(cluster) == before
    said = plugin(cluster.kubeconfig, "pause").stdout.splitlines()
    assert said[0].startswith("This is a dry run")
    assert "pause ValidatingAdmissionPolicy <cardquota-gate-required>" in said


def test_u1_u2_in_a_pause_pods_run_and_the_fence_holds(cluster: Cluster, team: Team) -> None:
    team.has_queue({T1000: 2})
    team.until_row(T1000, quota=2)
    assert team.create(team.a_pod("before", 1, T1000)).ok
    team.until_bound("before")
    assert team.create(waiting(team, "waits", 2)).ok
    assert not released(team.pod("waits"))
    as_rendered = admission(cluster)

    assert done(cluster, "pause", "--yes")["steps"]
    paused = admission(cluster)
    again = done(cluster, "pause", "--yes")
    assert (again["steps"], admission(cluster)) == ([], paused)

    meanwhile = team.create(on_t1000(team.a_pod("meanwhile", 3, T1000)))
    assert (meanwhile.code, released(meanwhile.body)) == (201, True)
    team.until_bound("meanwhile")
    nobody_forges(team)
    team.until_row(T1000, allocated=4, requested=6)
    eventually(lambda: are_totals_exact(team), "totals")
    assert team.condition("OverQuota")["status"] == "True"
    it_is_seen(cluster)
    applying_the_manifests_does_not_end_it(team, paused)

    assert done(cluster, "resume", "--yes")["steps"]
    assert admission(cluster) == as_rendered
    assert done(cluster, "resume", "--yes")["steps"] == []
    late = team.create(waiting(team, "late", 1))
    assert (late.code, released(late.body)) == (201, False)
    refused = team.create(team.a_pod("refused", 1, T1000))
    assert "insufficient" in refused.message
    team.delete(team.a_pod("before"))
    team.until_row(T1000, allocated=3)
    assert not released(team.pod("late"))  # 3 of 2: what ran in the pause counts
    team.delete(team.a_pod("meanwhile"))
    team.until_bound("waits")
    assert not released(team.pod("late"))
    team.until_row(T1000, allocated=2, requested=3)
    eventually(lambda: are_totals_exact(team), "totals")


def nobody_forges(team: Team) -> None:
    """U2: not even an administrator, not by a create and not by an update."""
    for key in (v.ALLOCATED, v.CHARGED_QUEUE, v.TERM):
        forged = team.create(team.a_pod("forged", 1, T1000).annotated(key, "x"))
        assert "may not be created with the annotations" in forged.message
        written_over = team.annotate(a_pod("meanwhile"), key, "x")
        assert "may not change the annotations" in written_over.message
    unlabelled = team.patch(a_pod("before"), {"metadata": {"labels": {v.MANAGED: None}}})
    assert "may not change the label" in unlabelled.message
    other = team.annotate(a_pod("before"), v.CARD_NAME, "NVIDIA-H200")
    assert "may not change the annotations" in other.message
    opened = team.patch(a_pod("waits"), {"spec": {"schedulingGates": None}})
    assert "may not remove the scheduling gate" in opened.message
    path = f"/apis/cardquota.volcano.sh/v1alpha1/namespaces/{v.OPERATOR_NAMESPACE}/terms/cardquota"
    assert "may not be deleted" in ask(team.cluster, "DELETE", path).message
    assert not released(team.pod("waits"))


def it_is_seen(cluster: Cluster) -> None:
    """U1: by `check`, and by a metric that has an alert."""
    found = plugin(cluster.kubeconfig, "check", "-o", "json")
    assert found.returncode == 3
    findings = json.loads(found.stdout)["sections"][0]["findings"]
    paused = [one for one in findings if one["reason"] == "QuotaPaused"]
    assert {"cardquota-gate-required", "cardquota"} <= {one["name"] for one in paused}
    assert all(" by admin: " in str(one) for one in paused)
    name = "cardquota_installation_faults"
    eventually(lambda: metric(cluster, name, kind="ValidatingAdmissionPolicy") == 2, "metric")


def applying_the_manifests_does_not_end_it(team: Team, paused: Any) -> None:
    """U1: neither whole nor in part, by whichever way."""
    cluster = team.cluster
    assert cluster.folder is not None
    rendered = cluster.folder.private / "manifests.yaml"
    for how in ((), ("--server-side", "--force-conflicts")):
        applied = cluster.kubectl("apply", "-f", str(rendered), *how)
        assert applied.returncode == 0, applied.stderr
        assert admission(cluster) == paused
        assert team.create(team.a_pod("as-before", 1, T1000), dry=True).ok


def is_asked(cluster: Cluster) -> bool:
    """Whether somebody answers a question: of reviews there is none in a pause."""
    body = {
        "apiVersion": "cardquota.volcano.sh/v1alpha1",
        "kind": "QueueReview",
        "metadata": {"generateName": "a-test-"},
        "spec": {"queue": ""},
    }
    path = "/apis/cardquota.volcano.sh/v1alpha1/queuereviews?dryRun=All"
    return ask(cluster, "POST", path, body).ok


@BY_WEBHOOK
def test_u1_u4_while_nobody_leads(cluster: Cluster, team: Team) -> None:
    team.has_queue({T1000: 2})
    team.until_row(T1000, quota=2)
    with nobody_there(cluster, answers=is_asked):
        assert done(cluster, "pause", "--yes")["steps"]
        assert released(team.create(on_t1000(team.a_pod("meanwhile", 3, T1000))).body)
        team.until_bound("meanwhile")
        paused = admission(cluster)
        result = plugin(cluster.kubeconfig, "resume", "--yes")
        assert result.returncode == 1
        assert result.stderr.startswith("cardquota: still paused, since pods would be refused: ")
        assert admission(cluster) == paused
        assert team.create(team.a_pod("still", 3, T1000), dry=True).ok
    assert done(cluster, "resume", "--yes")["steps"]
    team.until_row(T1000, allocated=3)
    eventually(lambda: are_totals_exact(team), "totals")
    late = team.create(waiting(team, "late", 1))
    assert (late.code, released(late.body)) == (201, False)
    assert team.delete(a_pod("late")).ok  # the last test here counts gates in all namespaces


def test_u1_u4_no_pod_is_refused_on_the_way_in_and_out(cluster: Cluster, team: Team) -> None:
    """Not for a gate that nobody sets any more, nor for one that nobody sets yet."""
    team.has_queue({T1000: 1000})
    team.until_row(T1000, quota=1000)
    with creating(team) as answers:
        eventually(lambda: len(answers) > 5, "pods")
        done(cluster, "pause", "--yes")
        eventually(lambda: released(answers[-1]["pod"]), "paused")
        done(cluster, "resume", "--yes")
        eventually(lambda: not released(answers[-1]["pod"]), "resumed")
    assert [one for one in answers if one["code"] != 201] == []
    eventually(lambda: are_totals_exact(team), "totals")


@BY_WEBHOOK
def test_u3_gates_are_opened_by_who_pauses_and_by_nobody_else(cluster: Cluster, team: Team) -> None:
    team.has_queue({T1000: 2})
    team.until_row(T1000, quota=2)
    assert team.create(team.a_pod("before", 2, T1000)).ok
    team.until_bound("before")
    names = [f"waits-{number}" for number in range(12)]
    for name in names:
        assert team.create(waiting(team, name, 2)).ok
    others = {
        "name": "example.com/another",
    }
    assert team.create(waiting(team, "two-gates", 2).put([others], "spec", "schedulingGates")).ok
    as_rendered = admission(cluster)
    found = done(cluster, "pause", "--release", "--yes")
    assert found["steps"][-1] == {"action": "open", "object": "the gates of 13 pods"}
    team.until_bound(*names)
    assert team.pod("two-gates")["spec"]["schedulingGates"] == [others]
    by_hand = waiting(team, "by-hand", 1).put([{"name": v.GATE}], "spec", "schedulingGates")
    assert team.create(by_hand).ok
    opened = team.patch(a_pod("by-hand"), {"spec": {"schedulingGates": None}})
    assert "may not remove the scheduling gate" in opened.message
    team.until_row(T1000, allocated=26)
    eventually(lambda: are_totals_exact(team), "totals")
    done(cluster, "resume", "--yes")
    assert admission(cluster) == as_rendered


@BY_WEBHOOK
def test_u3_a_release_that_was_killed_leaves_nothing_open_after_resume(
    cluster: Cluster, team: Team
) -> None:
    path = f"{ADMISSION}/validatingadmissionpolicies/cardquota-pods"
    as_rendered = admission(cluster)
    policy = ask(cluster, "GET", path).body
    (variable,) = (one for one in policy["spec"]["variables"] if one["name"] == "gateDropped")
    variable["expression"] = f'({variable["expression"]})\n&& request.userInfo.username != "me"'
    assert ask(cluster, "PUT", path, policy).ok
    assert admission(cluster) != as_rendered
    done(cluster, "resume", "--yes")
    assert admission(cluster) == as_rendered


@BY_WEBHOOK
def test_u1_a_version_before_is_not_paused_by_half(cluster: Cluster, team: Team) -> None:
    """There the policy that guards the operator's keys demands the gate as well."""
    path = f"{ADMISSION}/validatingadmissionpolicies/cardquota-pods"
    policy = ask(cluster, "GET", path).body
    before = admission(cluster)
    older = json.loads(json.dumps(policy))
    older["spec"]["variables"].append({"name": "bornUngated", "expression": "false"})
    assert ask(cluster, "PUT", path, older).ok
    try:
        result = plugin(cluster.kubeconfig, "pause", "--yes")
        assert result.returncode == 1
        assert "is of an earlier version, which cannot be paused" in result.stderr
    finally:
        now = ask(cluster, "GET", path).body
        assert ask(cluster, "PUT", path, {**now, "spec": policy["spec"]}).ok
    assert admission(cluster) == before

"""Beside Volcano, by a stand-in for it: jobs run within their quota, its numbers are found, and who
is not Volcano is named.
"""

import json
import re
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from cardquota.quota import vocabulary as v
from cardquota_dev.paths import CHECKOUT
from cardquota_dev.testing import Cluster
from integration.asking import MERGE, ApiReply, ask, metric
from integration.plugin import plugin
from integration.roomy_nodes import T1000, T2000
from integration.team import Team, notes, of_a_job, released
from integration.workload_bodies import create, path, workload

from .conftest import ACCOUNTS
from .volcano_jobs import phase, running, running_by_job, submit, volcano_job

pytestmark = [pytest.mark.plane, pytest.mark.disruptive]
STRANGER = "system:serviceaccount:elsewhere:volcano-scheduler"
SETTING = "add it to the setting volcano.accounts"


def published(team: Team) -> dict[str, Any]:
    """What stands in the annotation."""
    return dict(json.loads(notes(team.queue()).get(v.STATUS, "{}")))


def row(team: Team, card: str = T1000) -> dict[str, Any]:
    rows = published(team).get("cards", ())
    return next((dict(one) for one in rows if one["name"] == card), {})


def refused_patches(cluster: Cluster) -> dict[str, int]:
    """Patches of queues and pod groups that the API server has answered with an error, by resource
    and code. Volcano writes whole objects, so these are ours.
    """
    page = cluster.kubectl("get", "--raw", "/metrics").stdout
    found = re.findall(r"^apiserver_request_total\{(.*)\} (\S+)$", page, re.MULTILINE)
    refused: Counter[str] = Counter()
    for text, number in found:
        labels = dict(re.findall(r'(\w+)="([^"]*)"', text))
        ours = labels["resource"] in ("queues", "podgroups")
        patch = ours and labels["verb"] in ("PATCH", "APPLY")
        if patch and labels["code"] >= "400":
            refused[f"{labels['resource']} {labels['code']}"] += round(float(number))
    return dict(refused)


@pytest.mark.slow
def test_jobs_run_one_after_the_other_and_the_numbers_are_found(team: Team) -> None:
    """Two of two pods on a quota of three: Volcano enqueues both at once."""
    team.has_queue({T1000: 3})
    team.until(lambda: row(team).get("quota") == 3, "the numbers are published")
    before = refused_patches(team.cluster)
    names = ("a", "b")
    for name in names:
        assert submit(team, volcano_job(team, name, 2, T1000, runs=2)).ok
    most = 0

    def all_done() -> bool:
        nonlocal most
        most = max(most, running_by_job(team).total())
        return all(phase(team, name) == "Completed" for name in names)

    team.until(all_done, "all are completed", 120)
    # Three where the next one starts while one pod of the last one still runs.
    assert 2 <= most <= 3
    team.until(lambda: row(team).get("allocated") == 0, "nothing is held")
    shown = published(team)
    assert {"cards", "resources", "conditions", "columns"} <= set(shown)
    # Volcano's own is Volcano's.
    assert {"state", "allocated"}.isdisjoint(shown)
    assert set(team.queue()["status"]).isdisjoint(("cards", "columns"))
    assert refused_patches(team.cluster) == before
    assert "CARDS" not in team.cluster.kubectl("get", "queues").stdout


@pytest.mark.slow
def test_t2_no_write_of_a_reservation_is_refused(team: Team) -> None:
    """Volcano writes the same pod groups all the time; and what is tested instead of their version
    is compared as it is written.
    """
    team.has_queue({T1000: 4})
    before = refused_patches(team.cluster)
    names = [f"job-{number}" for number in range(6)]
    for number, name in enumerate(names):
        job = volcano_job(team, name, 2, T1000, runs=1)
        if number % 2:
            text = f'{{\n\t"{T1000}": 2\n}}\n'
            job["metadata"]["annotations"] = {v.REQUEST: text}
        assert submit(team, job).ok
    kept: set[str] = set()

    def all_done() -> bool:
        for name, found in groups(team).items():
            if v.RESERVATION in found:
                assert v.SETTLE in found
                kept.add(name)
        return all(phase(team, name) == "Completed" for name in names)

    team.until(all_done, "all are completed", 120)
    assert kept
    team.until(
        lambda: all(v.RESERVATION not in found for found in groups(team).values()), "none is left"
    )
    assert refused_patches(team.cluster) == before


def groups(team: Team) -> dict[str, dict[str, str]]:
    """The annotations of each pod group."""
    there = f"/apis/{v.API_GROUP}/{v.VERSION}/namespaces/{team.namespace}/podgroups"
    found = ask(team.cluster, "GET", there).body["items"]
    return {one["metadata"]["name"]: notes(one) for one in found}


@pytest.mark.slow
def test_a_deployment_that_volcano_schedules(team: Team) -> None:
    """Its pods get their group after they are created, and are bound with it."""
    team.has_queue({T1000: 2})
    pod = team.a_pod("web", 1, T1000).with_spec(schedulerName="volcano")
    assert create(team, "Deployment", pod, replicas=2).ok
    team.until(lambda: row(team).get("allocated") == 2, "both are counted")
    team.until(
        lambda: [bool(pod["spec"].get("nodeName")) for pod in team.pods()] == [True, True],
        "both are bound",
    )
    assert all(notes(pod)["scheduling.k8s.io/group-name"] for pod in team.pods())


def bind(team: Team, name: str, user: str, annotations: dict[str, str]) -> ApiReply:
    """As Volcano's scheduler does it: with all that it knows of the pod."""
    meta = {"name": name, "uid": team.pod(name)["metadata"]["uid"], "annotations": annotations}
    target = {"apiVersion": "v1", "kind": "Node", "name": "no-such-node"}
    body = {"apiVersion": "v1", "kind": "Binding", "metadata": meta, "target": target}
    where = f"/api/v1/namespaces/{team.namespace}/pods/{name}/binding"
    return ask(team.cluster, "POST", where, body, as_user=user, as_groups=("system:masters",))


def group(team: Team, name: str, user: str) -> ApiReply:
    """As Volcano's controllers give a pod its group."""
    change = {"metadata": {"annotations": {"scheduling.k8s.io/group-name": "g"}}}
    where = f"/api/v1/namespaces/{team.namespace}/pods/{name}"
    groups = ("system:masters",)
    return ask(
        team.cluster, "PATCH", where, change, content_type=MERGE, as_user=user, as_groups=groups
    )


@pytest.mark.slow
def test_v1_who_is_not_known_to_be_volcano_is_named(team: Team) -> None:
    """The policies refuse it; whoever wonders why nothing starts finds who, and what to do."""
    team.has_queue({T1000: 2})
    held = team.a_pod("held", 1, T1000).with_spec(schedulerName="nobody")
    assert team.create(held).ok
    team.until(lambda: released(team.pod("held")), "it is released")
    repeated = {key: text for key, text in notes(team.pod("held")).items() if "volcano.sh" in key}

    reply = bind(team, "held", STRANGER, repeated)
    assert reply.code == 403
    for said in (f"user <{STRANGER}>: ", "leave them out of the Binding", SETTING):
        assert said in reply.message

    def listed() -> bool:
        # Sent again each time: if the operator is slow, the API server does not wait for its count.
        assert bind(team, "held", STRANGER, repeated).code == 403
        done = plugin(team.cluster.kubeconfig, "check", "-o", "json")
        sections = json.loads(done.stdout)["sections"]
        refused = next(one for one in sections if one["section"] == "refused")
        reasons = [one["reason"] for one in refused["findings"]]
        return reasons == ["VolcanoNotKnown"] and done.returncode == 3

    # Of several replicas one answers, and the API server asks the same one again.
    team.until(listed, "the command says so")
    counted = metric(team.cluster, "cardquota_refused_writes_total", what="binding")
    assert counted > 0
    # Without them it may, and that is not counted.
    assert bind(team, "held", STRANGER, {}).code != 403
    now = metric(team.cluster, "cardquota_refused_writes_total", what="binding")
    assert now == counted

    given = group(team, "held", STRANGER)
    assert given.code == 403
    assert SETTING in given.message
    team.until(
        lambda: metric(team.cluster, "cardquota_refused_writes_total", what="group") >= 1, "counted"
    )


def test_volcanos_own_accounts_are_trusted_wherever_they_are(team: Team) -> None:
    team.has_queue({T1000: 2})
    held = team.a_pod("held", 1, T1000).with_spec(schedulerName="nobody")
    assert team.create(held).ok
    team.until(lambda: released(team.pod("held")), "it is released")
    scheduler, controllers = ACCOUNTS
    given = group(team, "held", controllers)
    assert given.ok, given
    repeated = {key: text for key, text in notes(team.pod("held")).items() if "volcano.sh" in key}
    assert bind(team, "held", scheduler, repeated).code != 403


def test_v2_a_guarantee_that_is_not_deserved_is_explained(team: Team) -> None:
    """Volcano's webhook refuses it; what is to be written stands beside that."""
    queue = team.a_queue({T1000: 1}).guaranteeing(cpu="2", memory="2Gi")
    refused = team.create(queue)
    assert not refused.ok
    assert "requestBody.spec.deserved" in refused.message
    says = "Volcano refuses a guarantee above spec.deserved: write spec.deserved, <cpu> <2>"
    assert any(one.startswith(says.replace("<", "").replace(">", "")) for one in refused.warnings)
    assert team.create(queue.deserving(cpu="2", memory="2Gi")).ok


@pytest.mark.parametrize("sample", sorted((CHECKOUT / "manifests" / "samples").glob("queue*.yaml")))
def test_the_samples_hold_for_volcano_too(team: Team, sample: Path) -> None:
    done = team.cluster.kubectl("create", "--dry-run=server", "-f", str(sample))
    assert done.returncode == 0, done.stderr


def close(team: Team, state: str | None) -> None:
    assert team.annotate(team.a_queue({}), v.QUEUE_STATE, state).ok


@pytest.mark.slow
@pytest.mark.parametrize("why", [v.Reason.QUEUE_NOT_OPEN, v.Reason.CARD_NOT_IN_QUOTA])
def test_e5_what_may_change_ends_no_job(team: Team, why: str) -> None:
    """Its pods would be refused, and the job Terminated after 15 tries: they wait, and say so."""
    closed = why == v.Reason.QUEUE_NOT_OPEN
    team.has_queue(team.a_queue({T1000: 3} if closed else {}))
    if closed:
        team.until(lambda: row(team).get("quota") == 3, "the numbers are published")
        close(team, "Closed")
    assert submit(team, volcano_job(team, "late", 2, T1000)).ok
    team.until(lambda: len(team.pods()) == 2, "its pods are there")
    told = team.until_told(team.pods()[0]["metadata"]["name"], why)
    assert ("Closed" if closed else T1000) in told["message"]
    assert running(team, "late") == 0
    close(team, None)
    team.set_quota({T1000: 3})
    team.until(lambda: running(team, "late") == 2, "its pods are bound")
    team.until(lambda: phase(team, "late") == "Running", "it runs")


@pytest.mark.slow
def test_e7_pods_of_one_task_get_the_same_card_where_one_has_room_for_all(team: Team) -> None:
    """Volcano remembers for a task on which nodes its first pod fails: with a card each of its own
    they would never be bound together.
    """
    team.has_queue({T1000: 2, T2000: 3})
    assert submit(team, volcano_job(team, "either", 3, f"{T1000}|{T2000}")).ok
    team.until(lambda: running(team, "either") == 3, "all three are bound")
    given = [json.loads(notes(pod)[v.ALLOCATED]) for pod in team.pods()]
    assert given == [{T2000: 1}] * 3
    team.until(lambda: row(team, T2000).get("allocated") == 3, "counted")
    assert row(team)["allocated"] == 0


@pytest.mark.slow
def test_t6_the_numbers_follow_whatever_the_conditions_say(team: Team) -> None:
    """Their messages have characters that the API server writes in another way than we do."""
    team.has_queue({T1000: 2})
    for name in ("a", "b"):
        assert team.create(of_a_job(team.a_pod(name, 1, T1000))).ok
    team.until(lambda: row(team).get("allocated") == 2, "both are counted")
    team.annotate(team.a_queue({}), v.QUOTA, json.dumps({T1000: 1}))

    def over() -> str:
        conditions = published(team)["conditions"]
        return next(str(c["message"]) for c in conditions if c["type"] == "OverQuota")

    team.until(lambda: f"<{T1000}>" in over(), "it is over its quota")
    # What `kubectl describe queue` shows, which reads no annotation.
    team.until(lambda: events(team, "OverQuota") == ["Warning"], "an event says so")
    team.annotate(team.a_queue({}), v.QUOTA, json.dumps({T1000: 0}))
    team.until(lambda: row(team).get("quota") == 0, "the numbers follow")
    assert team.delete(team.a_pod("a")).ok
    team.until(lambda: row(team).get("allocated") == 1, "and follow again")
    team.annotate(team.a_queue({}), v.QUOTA, json.dumps({T1000: 2}))
    both = ["Normal", "Warning"]
    team.until(lambda: events(team, "OverQuota") == both, "another one that it is over")


def events(team: Team, reason: str) -> list[str]:
    """The types of events on the queue, in order; they stand in the default namespace."""
    wanted = f"involvedObject.name={team.queue_name()},reason={reason}"
    there = f"/api/v1/namespaces/default/events?fieldSelector={wanted}"
    return sorted(str(event["type"]) for event in ask(team.cluster, "GET", there).body["items"])


@pytest.mark.slow
def test_v7_a_gang_and_its_elastic_part_on_two_cards_run(team: Team) -> None:
    """By its defaults Volcano does not try a task's pods once one of them fits no node: and of one
    second it tries them in any order.
    """
    team.has_queue({T1000: 2, T2000: 4})
    names = [f"gang-{number}" for number in range(3)]
    for name in names:
        job = volcano_job(team, name, 3, f"{T1000}|{T2000}", runs=3)
        job["spec"]["minAvailable"] = 2
        assert submit(team, job).ok
    team.until(lambda: all(phase(team, name) == "Completed" for name in names), "all have run", 120)


@pytest.mark.slow
def test_v8_two_workloads_that_volcano_makes_gangs_of_do_not_hold_up_each_other(team: Team) -> None:
    queue = team.a_queue({T1000: 5}).annotated(v.POLICY, "Gate")
    team.has_queue(queue)
    deployments = path(team, "Deployment")
    for name in ("one", "two"):
        pod = team.a_pod(name, 1, T1000).with_spec(schedulerName="volcano")
        body = workload(team, "Deployment", pod, replicas=4)
        body["metadata"]["annotations"] = {"scheduling.volcano.sh/group-min-member": "4"}
        assert ask(team.cluster, "POST", deployments, body).ok

    def bound() -> dict[str, int]:
        found = Counter(pod["metadata"]["labels"]["app"] for pod in team.pods() if released(pod))
        return dict(found)

    team.until(lambda: 4 in bound().values(), "one of them runs")
    assert sum(bound().values()) == 4, "the other holds nothing"
    (first,) = bound()
    assert ask(team.cluster, "DELETE", f"{deployments}/{first}").ok
    other = "two" if first == "one" else "one"
    team.until(lambda: bound() == {other: 4}, "then the other")

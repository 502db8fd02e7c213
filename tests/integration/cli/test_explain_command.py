"""`kubectl cardquota explain`, as a tenant, on the plane with the product."""

import json
import re
import subprocess

import pytest

from builders import a_node
from cardquota.quota import vocabulary as v
from integration.asking import Object, ask, metric
from integration.own_node import a_node_of
from integration.plugin import plugin
from integration.team import Team, of_a_job

REVIEWS = f"/apis/{v.REVIEW_GROUP}/{v.REVIEW_VERSION}/workloadreviews"


def explain(team: Team, *arguments: str) -> subprocess.CompletedProcess[str]:
    assert team.cluster.folder is not None
    tenant = team.cluster.folder.tenant_kubeconfig
    return plugin(tenant, "explain", *arguments, "-n", team.namespace)


def explained(team: Team, *arguments: str) -> Object:
    done = explain(team, *arguments, "-o", "json")
    assert (done.returncode, done.stderr) == (0, "")
    return dict(json.loads(done.stdout))


@pytest.mark.slow
def test_f5_why_a_pod_waits_and_what_would_let_it_in(team: Team) -> None:
    """Of cards that nobody else asks for, so what is free, and where there is room, is known."""
    card, other = f"{team.prefix}-card", f"{team.prefix}-other"
    nodes = [a_node(name).with_cards(name, "8") for name in (card, other)]
    counted = "cardquota_cluster_card_allocatable"
    with a_node_of(team, nodes[0]), a_node_of(team, nodes[1]):
        for one in (card, other):
            team.until(
                lambda one=one: metric(team.cluster, counted, card=one) == 8, "the node is seen"
            )
        _waits_and_is_told(team, card, other)


def _waits_and_is_told(team: Team, card: str, other: str) -> None:
    team.has_queue({card: 2, other: 2})
    spare = team.has_queue(
        team.a_queue({card: 3}, "spare").annotated(v.NAMESPACES, json.dumps([team.namespace])),
        "spare",
    )
    assert team.create(of_a_job(team.a_pod("holder", 1, card))).ok
    team.until_bound("holder")
    assert team.create(of_a_job(team.a_pod("next", 2, card))).ok
    event = team.until_told("next", v.Reason.INSUFFICIENT_CARD)
    found = explained(team, "pod", "next")
    assert (found["state"], found["message"]) == (
        "Waits",
        re.sub("; held by [^;]*", "", event["message"]),  # the holders are told beside it
    )
    assert found["queue"] == team.queue_name()
    assert (found["place"], found["placeOf"]) == (1, 1)
    assert [one["name"] for one in found["holders"]] == ["train"]
    assert found["otherCards"] == [{"name": other, "amount": 2}]
    assert found["otherQueues"] == [{"queue": spare, "card": card, "left": 3}]
    text = explain(team, "po/next").stdout
    assert f"Pod {team.namespace}/next: waits" in text
    assert f"in another queue: {spare}" in text
    team.set_quota({card: 3, other: 2})
    team.until_bound("next")
    assert explained(team, "po/next")["state"] == "Fits"
    assert ask(team.cluster, "GET", REVIEWS).body["items"] == []


@pytest.mark.slow
def test_f5_what_is_not_there_and_who_may_not_ask(team: Team) -> None:
    done = explain(team, "deploy", "none")
    assert (done.returncode, done.stdout) == (1, "")
    assert f"Deployment <{team.namespace}/none> is not known to cardquota" in done.stderr
    outsider = ask(
        team.cluster,
        "POST",
        f"/apis/{v.REVIEW_GROUP}/{v.REVIEW_VERSION}/namespaces/{team.namespace}/workloadreviews"
        "?dryRun=All",
        {
            "apiVersion": f"{v.REVIEW_GROUP}/{v.REVIEW_VERSION}",
            "kind": "WorkloadReview",
            "metadata": {"generateName": "ask-"},
            "spec": {"kind": "Pod", "name": "x"},
        },
        as_user="somebody",
    )
    assert (outsider.code, outsider.reason) == (403, "Forbidden")

"""Volcano asks which pod groups to enqueue: who has to wait creates no pods (V3, E1)."""

import json
import ssl
from collections.abc import Iterator
from http.client import HTTPSConnection
from typing import Any
from urllib.parse import urlsplit
from uuid import uuid4

import pytest
import yaml

from cardquota.quota import vocabulary as v
from cardquota_dev.testing import Cluster, eventually, fresh_namespace, running_plane
from integration.asking import ask, highest_metric
from integration.roomy_nodes import T1000, T2000, add_roomy_nodes
from integration.team import Team, notes, released

from .conftest import ACCOUNTS, NAMESPACE
from .volcano_jobs import phase, running, running_by_job, submit, volcano_job

pytestmark = [pytest.mark.plane, pytest.mark.disruptive]
PATH = "/volcano/jobEnqueueable"
GROUPS = "/apis/scheduling.volcano.sh/v1beta1/namespaces"
REQUEST, RESERVATION = "volcano.sh/card.request", "volcano.sh/card.reservation"
PERMIT, ABSTAIN, REJECT = 1, 0, -1


@pytest.fixture(scope="module")
def asked_by_volcano(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    """Two replicas: whoever is asked passes it on to the leader."""
    config = tmp_path_factory.mktemp("asked") / "config.yaml"
    settings = {"scheduler": "volcano", "volcano": {"accounts": list(ACCOUNTS)}}
    config.write_text(yaml.safe_dump(settings))
    with running_plane(
        tmp_path_factory.mktemp("asked-plane"),
        config=config,
        replicas=2,
        crds="volcano",
        volcano=NAMESPACE,
        volcano_asks=True,
        volcano_period=0.2,
        volcano_longest_pause=0.2,
    ) as cluster:
        add_roomy_nodes(cluster)
        cluster.warm()
        # Before that every group is rejected, and Volcano asks again.
        eventually(lambda: highest_metric(cluster, "cardquota_leader") == 1, "a replica decides")
        yield cluster


@pytest.fixture
def team(asked_by_volcano: Cluster, unique: str) -> Iterator[Team]:
    with fresh_namespace(asked_by_volcano, unique) as namespace:
        yield Team(asked_by_volcano, namespace, unique)


class VolcanoCalls:
    """Asks as its scheduler does: over HTTPS, and without a certificate of its own."""

    def __init__(self, cluster: Cluster) -> None:
        assert cluster.folder is not None
        state = json.loads(cluster.folder.state.read_text())
        self._url = urlsplit(state["enqueue"])
        self._tls = ssl.create_default_context(cafile=str(cluster.folder.volcano_ca))

    def call(self, body: bytes, method: str = "POST", path: str = PATH) -> tuple[int, str]:
        there = HTTPSConnection(
            self._url.hostname or "", self._url.port, context=self._tls, timeout=20
        )
        try:
            there.request(method, path, body, {"Content-Type": "application/json"})
            answer = there.getresponse()
            return answer.status, answer.read().decode()
        finally:
            there.close()

    def vote(self, group: dict[str, Any], **more: Any) -> int:
        meta = group["metadata"]
        uid = f"{meta['namespace']}/{meta['name']}"
        job = {"UID": uid, "Name": meta["name"], "PodGroup": group, **more}
        code, text = self.call(json.dumps({"job": job}).encode())
        assert code == 200, text
        return int(json.loads(text)["status"])


@pytest.fixture
def volcano(asked_by_volcano: Cluster) -> VolcanoCalls:
    return VolcanoCalls(asked_by_volcano)


def groups(team: Team) -> list[dict[str, Any]]:
    return list(ask(team.cluster, "GET", f"{GROUPS}/{team.namespace}/podgroups").body["items"])


def group_of(team: Team, job: str) -> dict[str, Any]:
    found = [one for one in groups(team) if one["metadata"]["name"].startswith(f"{job}-")]
    return found[0] if found else {}


def a_group(team: Team, name: str, **spec: Any) -> dict[str, Any]:
    """One of which no pods will come."""
    text = spec.pop("request", None)
    body = {
        "apiVersion": "scheduling.volcano.sh/v1beta1",
        "kind": "PodGroup",
        "metadata": {"name": name, "annotations": {REQUEST: text} if text else {}},
        "spec": {"queue": team.queue_name(), "minMember": 2, **spec},
    }
    reply = ask(team.cluster, "POST", f"{GROUPS}/{team.namespace}/podgroups", body)
    assert reply.ok, reply
    return reply.body


def why(group: dict[str, Any]) -> dict[str, Any]:
    """Our condition of a group."""
    conditions = group.get("status", {}).get("conditions", ())
    return next((one for one in conditions if one["type"] == "CardQuota"), {})


def asking_for(job: dict[str, Any], request: dict[str, int]) -> dict[str, Any]:
    job["metadata"]["annotations"] = {REQUEST: json.dumps(request)}
    return job


@pytest.mark.slow
def test_jobs_that_wait_have_no_pods_and_are_told_why(team: Team) -> None:
    """Two of two pods on a quota of three. The second one names no cards: `spec.minResources` has a
    resource name, and the quota one card behind it.
    """
    team.has_queue({T1000: 3})
    assert submit(team, asking_for(volcano_job(team, "a", 2, T1000), {T1000: 2})).ok
    team.until(lambda: running(team, "a") == 2, "the first runs")
    assert submit(team, volcano_job(team, "b", 2, T1000, runs=2)).ok
    team.until(lambda: why(group_of(team, "b")).get("status") == "True", "it is told why it waits")
    assert {pod["metadata"]["labels"]["volcano.sh/job-name"] for pod in team.pods()} == {"a"}
    assert why(group_of(team, "a")) == {}, "the first never waited"
    told = why(group_of(team, "b"))
    assert told["reason"] == "InsufficientCardQuota"
    assert "requested <2>, total would be <4>, but capability is <3>" in told["message"]
    jobs = f"/apis/batch.volcano.sh/v1alpha1/namespaces/{team.namespace}/jobs"
    assert ask(team.cluster, "DELETE", f"{jobs}/a").ok
    most, released = 0, False

    def done() -> bool:
        nonlocal most, released
        most = max(most, running_by_job(team).total())
        released = released or why(group_of(team, "b")).get("status") == "False"
        return phase(team, "b") == "Completed"

    team.until(done, "it is completed")
    # Three where it starts while one pod of the first one still runs.
    assert 2 <= most <= 3
    assert released, "its condition says so"


def test_what_fits_is_permitted_and_reserved(team: Team, volcano: VolcanoCalls) -> None:
    team.has_queue({T1000: 3})
    first = a_group(team, "first", request=json.dumps({T1000: 2}))
    # Where that takes longer than an answer may, the next question hears of it.
    team.until(lambda: volcano.vote(first) == PERMIT, "it is reserved")
    # Its scheduler asks about every group as well, so the other one is made only now.
    second = a_group(team, "second", request=json.dumps({T1000: 2}))
    stored = next(one for one in groups(team) if one["metadata"]["name"] == "first")
    assert json.loads(notes(stored)[RESERVATION])["cards"] == {T1000: 2}
    assert volcano.vote(second) == REJECT
    assert volcano.vote(first) == PERMIT
    # What is given back goes to who waits, and the next question hears of it.
    path = f"{GROUPS}/{team.namespace}/podgroups/first"
    assert ask(team.cluster, "DELETE", path).ok
    team.until(lambda: volcano.vote(second) == PERMIT, "the second one is next")


def test_which_of_several_cards_is_not_known_before_the_pods_are_there(
    team: Team, volcano: VolcanoCalls
) -> None:
    """Permitted while any of them has room; nothing is reserved, and the gates decide."""
    team.has_queue({T1000: 1, T2000: 1})
    fits = a_group(team, "fits", minResources={"nvidia.com/gpu": "2"})
    large = a_group(team, "large", minResources={"nvidia.com/gpu": "3"})
    team.until(lambda: volcano.vote(fits) == PERMIT, "it is seen")
    assert all(RESERVATION not in notes(one) for one in groups(team))
    assert volcano.vote(large) == REJECT

    def told() -> dict[str, Any]:
        return next(why(one) for one in groups(team) if one["metadata"]["name"] == "large")

    team.until(lambda: told().get("status") == "True", "it is told why it waits")
    assert "requested <3>" in told()["message"]


def test_a_request_that_can_never_fit_is_rejected(team: Team, volcano: VolcanoCalls) -> None:
    """The quota was lowered after it was written, and before there was room for it."""
    team.has_queue({T1000: 2})
    held = team.a_pod("held", 1, T1000)
    assert team.create(held).ok
    team.until(lambda: released(team.pod("held")), "it holds a card")
    found = a_group(team, "large", request=json.dumps({T1000: 2}))
    team.set_quota({T1000: 1})

    def known() -> bool:
        """It is told why it waits once it was voted on; by the former quota, if that was before."""
        assert volcano.vote(found) == REJECT
        return "insufficient" in why(groups(team)[0]).get("message", "")

    team.until(known, "it is told why")
    assert team.delete(held).ok
    team.until(lambda: not team.pods(), "the card is free")
    assert volcano.vote(found) == REJECT


@pytest.mark.slow
def test_v3_nothing_is_reserved_of_a_card_that_the_job_does_not_name(team: Team) -> None:
    """Its group says two GPUs, and the queue has one card behind that name: another one."""
    team.has_queue({T1000: 3})
    assert submit(team, volcano_job(team, "other", 2, T2000)).ok
    team.until(lambda: why(group_of(team, "other")).get("status") == "True", "it is told")
    assert why(group_of(team, "other"))["reason"] == v.Reason.CARD_NOT_IN_QUOTA
    assert submit(team, volcano_job(team, "honest", 3, T1000)).ok
    team.until(lambda: running(team, "honest") == 3, "nothing is held for the other")
    told = f"/api/v1/namespaces/{team.namespace}/events?fieldSelector=reason=PodGroupPending"
    texts = [one["message"] for one in ask(team.cluster, "GET", told).body["items"]]
    assert any("the card is not in the queue's quota" in text for text in texts)


def test_what_is_none_of_ours(team: Team, volcano: VolcanoCalls) -> None:
    """Groups without cards; one whose pods come first, each with its gate, as Volcano makes one for
    each ReplicaSet; and all of a namespace that is only audited. Who was never seen waits.
    """
    team.has_queue({T1000: 1})
    plain = a_group(team, "plain", minResources={"cpu": "2", "memory": "1Gi"})
    other = a_group(team, "other", minResources={"cpu": "2", "example.com/licence": "1"})
    made = a_group(team, f"podgroup-{uuid4()}", minResources={"nvidia.com/gpu": "4"})
    for one in (plain, other, made):
        team.until(lambda group=one: volcano.vote(group) == ABSTAIN, "it is seen")
    meta = {"namespace": team.namespace, "name": "nowhere"}
    assert volcano.vote({"metadata": meta}) == REJECT
    team.set_mode("audit")
    found = a_group(team, "any", request=json.dumps({T1000: 1}))
    team.until(lambda: volcano.vote(found) == ABSTAIN, "its namespace is only audited")

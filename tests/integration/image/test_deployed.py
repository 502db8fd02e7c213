"""The operator as pods: deployed by the manifests on a real node, from its image.

One plane for all of it. Skipped, with the reason, where the machine can have no real node.
"""

import json
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from cardquota_dev.plane.real_node.requirements import real_node_lacks
from cardquota_dev.testing import Cluster, eventually, fresh_namespace, running_plane
from harness.page_process import reply, served_page
from integration.asking import ApiReply, Object, ask
from integration.process.test_failover import leader
from integration.roomy_nodes import T1000, add_roomy_nodes
from integration.team import QUEUES, Team, released

from .conftest import Unpacked

pytestmark = [pytest.mark.plane, pytest.mark.disruptive, pytest.mark.long]

NAMESPACE = "cardquota-system"
PODS = f"/api/v1/namespaces/{NAMESPACE}/pods"
CLIENTS = 4
PAUSE = 0.05
"""Seconds between two creates of a client."""


@pytest.fixture(scope="module")
def deployed(operator: Unpacked, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    if lacking := real_node_lacks():
        pytest.skip(lacking)
    folder = tmp_path_factory.mktemp("deployed")
    with running_plane(folder / "plane", real_node=True, deployed=operator.archive) as cluster:
        add_roomy_nodes(cluster)
        eventually(lambda: refuses(cluster), "a broken quota is refused")
        yield cluster


def refuses(cluster: Cluster) -> bool:
    body = {
        "apiVersion": "scheduling.volcano.sh/v1beta1",
        "kind": "Queue",
        "metadata": {"name": "broken", "annotations": {"volcano.sh/card.quota": "x"}},
        "spec": {},
    }
    return "denied the request" in ask(cluster, "POST", f"{QUEUES}?dryRun=All", body).message


@pytest.fixture
def team(deployed: Cluster, unique: str) -> Iterator[Team]:
    """With a queue whose pods wait for the leader."""
    with fresh_namespace(deployed, unique) as namespace:
        team = Team(deployed, namespace, unique)
        team.has_queue(team.a_queue({T1000: 2_000}).with_policy("Gate"))
        team.until_row(T1000, quota=2_000)
        yield team


def replicas(cluster: Cluster) -> list[Object]:
    """The operator's pods that are to stay."""
    pods = ask(cluster, "GET", PODS).body["items"]
    return [one for one in pods if "deletionTimestamp" not in one["metadata"]]


def ready(pod: Object) -> bool:
    conditions = {one["type"]: one["status"] for one in pod["status"].get("conditions", ())}
    return conditions.get("Ready") == "True"


def names(cluster: Cluster) -> set[str]:
    return {one["metadata"]["name"] for one in replicas(cluster)}


@contextmanager
def creates(team: Team) -> Iterator[list[ApiReply]]:
    """Clients that create pods all the time, all with room in the quota; what they are told."""
    over, replies = threading.Event(), list[ApiReply]()

    def create(client: int) -> None:
        number = 0
        while not over.wait(PAUSE):
            replies.append(team.create(team.a_pod(f"p{client}-{number}", 1, T1000)))
            number += 1

    threads = [threading.Thread(target=create, args=(client,)) for client in range(CLIENTS)]
    for one in threads:
        one.start()
    try:
        eventually(lambda: len(replies) > CLIENTS, "some are created")
        yield replies
    finally:
        over.set()
        for one in threads:
            one.join(60)


def all_open(team: Team, count: int) -> bool:
    return sum(map(released, team.pods())) == count


def test_the_pods_run_the_image_and_become_ready_by_their_probes(deployed: Cluster) -> None:
    pods = replicas(deployed)
    assert [ready(one) for one in pods] == [True, True]
    (statuses,) = zip(*(one["status"]["containerStatuses"] for one in pods), strict=True)
    assert {one["image"] for one in statuses} == {"docker.io/library/cardquota:0.1.0"}
    assert [one["restartCount"] for one in statuses] == [0, 0]
    assert {one["spec"]["nodeName"] for one in pods} == {"real-1"}


def test_f8_the_page_comes_by_a_port_forward_and_goes_on_with_another_pod(
    deployed: Cluster,
) -> None:
    where = ("--kubeconfig", str(deployed.kubeconfig))
    with served_page(deployed.kubeconfig, *where, path=str(deployed.binary.parent)) as url:
        status, text = reply(f"{url}overview")
        assert (status, json.loads(text)["user"]) == (200, "admin")
        old = names(deployed)
        for name in old:
            assert ask(deployed, "DELETE", f"{PODS}/{name}").ok
        eventually(lambda: old.isdisjoint(names(deployed)), "new pods")
        eventually(lambda: all(map(ready, replicas(deployed))), "the new pods are ready")
        eventually(lambda: len(ask(deployed, "GET", PODS).body["items"]) == 2, "the old are gone")
        eventually(lambda: reply(f"{url}overview")[0] == 200, "the page goes on")
    running = subprocess.run(("ps", "-eo", "args"), capture_output=True, text=True, check=True)
    left = [one for one in running.stdout.splitlines() if "kubectl port-forward" in one]
    assert [one for one in left if str(deployed.kubeconfig) in one] == []


def test_when_the_leaders_pod_is_deleted_the_other_leads_and_no_create_fails(
    deployed: Cluster, team: Team
) -> None:
    first = eventually(lambda: leader(deployed), "a leader")
    assert first in names(deployed)
    with creates(team) as replies:
        assert ask(deployed, "DELETE", f"{PODS}/{first}").ok
        eventually(lambda: leader(deployed) not in ("", first), "another leads")
        second = leader(deployed)
        before = len(replies)
        eventually(lambda: len(replies) > before + CLIENTS, "more are created")
    assert [one for one in replies if not one.ok] == []
    eventually(lambda: all_open(team, len(replies)), "all open")
    told = "may decide, as the last one left it"
    eventually(lambda: told in deployed.kubectl("logs", second, "-n", NAMESPACE).stdout, told)
    eventually(lambda: all(map(ready, replicas(deployed))), "a new pod is ready")


def test_a_rolling_restart_fails_no_create(deployed: Cluster, team: Team) -> None:
    old = names(deployed)
    with creates(team) as replies:
        restart = ("rollout", "restart", "deployment/cardquota", f"--namespace={NAMESPACE}")
        assert deployed.kubectl(*restart).returncode == 0
        eventually(lambda: old.isdisjoint(names(deployed)), "all pods are new", 120)
        status = ("rollout", "status", "deployment/cardquota", f"--namespace={NAMESPACE}")
        done = deployed.kubectl(*status, "--timeout=120s", timeout=130)
        assert done.returncode == 0, done.stderr
        eventually(lambda: leader(deployed) in names(deployed), "a new pod leads")
        # Those that end have 30 seconds; what is sent to them is lost until all know of it.
        gone = eventually(lambda: len(ask(deployed, "GET", PODS).body["items"]) == 2, "old gone")
        assert gone
    failed = [one for one in replies if not one.ok]
    print(f"{len(replies)} creates, {len(failed)} failed")  # noqa: T201
    assert failed == []
    eventually(lambda: all_open(team, len(replies)), "all open")

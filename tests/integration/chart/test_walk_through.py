"""The real Helm on a real API server: install, upgrade, rollback, uninstall."""

import json
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from cardquota_dev.plane.ports import free_ports
from cardquota_dev.testing import eventually, running_plane
from integration.asking import ask
from integration.process.running import published_ca

from .helm import CHART, MANIFESTS, OWN, Object, helm
from .release import HelmRelease, outside, stored, webhooks

pytestmark = [pytest.mark.plane, pytest.mark.disruptive, pytest.mark.long]

RESTRICTED = {
    "apiVersion": "v1",
    "kind": "Namespace",
    "metadata": {"name": OWN, "labels": {"pod-security.kubernetes.io/enforce": "restricted"}},
}
EVERYTHING = {
    "config": {
        "extender": {"enabled": True},
        "metrics": {"authentication": True},
        "webhook": {"gate": "policy"},
    },
    "imagePullSecrets": [{"name": "registry"}],
    "image": {"registry": "mirror.example:5000", "digest": f"sha256:{'0' * 64}"},
    "nodeAgent": {"enabled": True, "image": {"digest": f"sha256:{'1' * 64}"}},
}


@pytest.fixture(scope="module")
def release(tmp_path_factory: pytest.TempPathFactory) -> Iterator[HelmRelease]:
    folder = tmp_path_factory.mktemp("chart")
    with running_plane(folder / "plane", replicas=0) as cluster:
        cluster.warm()
        cluster.apply(json.dumps(RESTRICTED))
        yield HelmRelease(cluster, folder)


@pytest.fixture
def installed(release: HelmRelease) -> Iterator[HelmRelease]:
    release("install")
    yield release
    release("uninstall")


def test_all_pods_are_restricted_and_start_in_their_priority_class(release: HelmRelease) -> None:
    release("install", **EVERYTHING)
    try:
        pods = eventually(lambda: _pods(release, 4), "pods of both Deployments")
        assert {one["spec"]["priorityClassName"] for one in pods} == {"system-cluster-critical"}
        assert {one["spec"]["imagePullSecrets"][0]["name"] for one in pods} == {"registry"}
        (agent,) = (one for one in release.objects() if one["kind"] == "DaemonSet")
        pod = {"apiVersion": "v1", "kind": "Pod", **agent["spec"]["template"]}
        pod["metadata"] = {"name": "agent"}
        del pod["spec"]["runtimeClassName"]  # the plane has no such class
        answer = ask(release.cluster, "POST", "/api/v1/namespaces/kube-system/pods?dryRun=All", pod)
        assert answer.ok, answer.said
        image = answer.body["spec"]["containers"][0]["image"]
        assert image == f"mirror.example:5000/cardquota-node@sha256:{'1' * 64}"
    finally:
        release("uninstall")


def _pods(release: HelmRelease, count: int) -> list[Object]:
    found = stored(release.cluster, f"/api/v1/namespaces/{OWN}/pods")
    return found if len(found) == count else []


def test_upgrade_and_rollback_leave_what_the_operator_has_written(
    installed: HelmRelease, tmp_path: Path
) -> None:
    """Nobody restores it: the operator has ended. So no review fails for an upgrade."""
    cluster = installed.cluster
    replica = outside(installed, tmp_path, {})
    replica.start()
    try:
        replica.until_leading()
        eventually(lambda: published_ca(cluster), "caBundle")
        eventually(
            lambda: all("caBundle" in one for one in webhooks(cluster).values()), "all bundles"
        )
    finally:
        replica.stop()
    before = webhooks(cluster)
    assert all(len(one["service"]["path"]) > 60 for one in before.values())
    installed("upgrade", config={"requireQueue": True, "webhook": {"timeoutSeconds": 9}})
    assert webhooks(cluster) == before
    installed("rollback", "1")
    assert webhooks(cluster) == before
    manifest = installed("get manifest")
    compared = cluster.kubectl("diff", "-f", "-", input=manifest)
    assert (compared.returncode, compared.stdout) == (0, ""), "nor does it count as a difference"


def test_the_gate_changes_sides(installed: HelmRelease) -> None:
    """First there is what is new, then what is old goes: never is there neither."""
    name = "/apis/admissionregistration.k8s.io/v1/mutatingadmissionpolicies"
    assert stored(installed.cluster, name) == []
    installed("upgrade", config={"webhook": {"gate": "policy"}})
    assert len(stored(installed.cluster, name)) == 2
    assert "mutatingwebhookconfigurations/cardquota/pods.cardquota.volcano.sh" not in webhooks(
        installed.cluster
    )
    installed("rollback", "1")
    assert stored(installed.cluster, name) == []


@pytest.mark.parametrize(
    ("values", "where"),
    [
        ({"replicas": "two"}, "at '/replicas': got string, want integer"),
        ({"config": None}, "missing property 'config'"),
        ({"image": {"repository": None}}, "missing property 'repository'"),
        ({"replica": 2}, "additional properties 'replica' not allowed"),
        ({"config": {"mode": "strict"}}, "at '/config/mode': value must be one of"),
        ({"config": {"requireQueue": "yes"}}, "at '/config/requireQueue': got string"),
        ({"config": {"webhook": {"name": "mine"}}}, "additional properties 'name' not allowed"),
        ({"config": {"webhook": {"timeoutSeconds": 31}}}, "at '/config/webhook/timeoutSeconds'"),
        ({"config": {"exemptNamespaces": ['a"] || true']}}, "at '/config/exemptNamespaces/0'"),
        ({"config": {"vendors": [{"prefix": "x", "type": "y"}]}}, "missing property 'name'"),
        ({"nodeAgent": {"config": {"offer": "halves"}}}, "at '/nodeAgent/config/offer'"),
        ({"image": {"digest": "latest"}}, "at '/image/digest'"),
        (
            {"certManager": {"enabled": True}, "config": {"webhook": {"certificates": "own"}}},
            "contradict each other",
        ),
    ],
)
def test_wrong_values_are_refused_before_anything_is_made(
    release: HelmRelease, values: dict[str, Any], where: str
) -> None:
    code, said = release.tried("install", **values)
    assert code == 1
    assert where in said
    assert webhooks(release.cluster) == {}


def test_one_cluster_has_one_release(installed: HelmRelease) -> None:
    for name, namespace in (("second", OWN), ("cardquota", "default")):
        code, said = installed.tried("install", name=name, namespace=namespace)
        assert code == 1
        assert said.strip().endswith(
            "cardquota is installed in this cluster by the release <cardquota> in namespace "
            f"<{OWN}>, and one cluster has one cardquota: upgrade that one"
        )
        assert len(said.strip().splitlines()) == 1


def test_a_release_takes_over_what_kubectl_has_applied(release: HelmRelease) -> None:
    applied = release.cluster.kubectl("apply", "-k", str(MANIFESTS / "base"))
    assert applied.returncode == 0, applied.stderr
    try:
        code, said = release.tried("install")
        assert code == 1
        assert "invalid ownership metadata" in said
        assert len(said.strip().splitlines()) == 1
        release("install", "--take-ownership")
    finally:
        release("uninstall")
    assert webhooks(release.cluster) == {}


def test_uninstall_leaves_queues_and_nothing_that_refuses(release: HelmRelease) -> None:
    release("install", config={"webhook": {"gate": "policy"}})
    made = release.objects()
    release("uninstall")
    left = release.cluster.kubectl("get", "-f", "-", "--ignore-not-found", "-o=name",
        input=json.dumps({"apiVersion": "v1", "kind": "List", "items": made}))  # fmt: skip
    assert (left.returncode, left.stdout) == (0, "")
    definitions = stored(release.cluster, "/apis/apiextensions.k8s.io/v1/customresourcedefinitions")
    assert "queues.scheduling.volcano.sh" in {one["metadata"]["name"] for one in definitions}
    pod = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "p", "annotations": {"volcano.sh/queue-name": "q"}},
        "spec": {
            "containers": [
                {"name": "c", "image": "i", "resources": {"limits": {"nvidia.com/gpu": 1}}}
            ]
        },
    }
    path = "/api/v1/namespaces/default/pods?dryRun=All"
    eventually(lambda: ask(release.cluster, "POST", path, pod).ok, "a pod with a card")


def test_an_old_cluster_is_told(tmp_path: Path) -> None:
    values = tmp_path / "values.json"
    values.write_text(json.dumps({"config": {"webhook": {"gate": "policy"}}}))
    version = "--kube-version=1.35.0"
    done = helm("template", "cardquota", str(CHART), f"-f={values}", version)
    assert "webhook.gate: policy needs Kubernetes 1.36, and this is v1.35.0" in done.stderr


def test_it_listens_where_the_network_policies_let_in(release: HelmRelease, tmp_path: Path) -> None:
    """All ports of a replica with everything on: each is a port of the pod, and either the policies
    know it or it is the kubelet's; they know no other.
    """
    config = {"scheduler": "volcano", "extender": {"enabled": True}}
    release("install", config=config)
    try:
        made = release.objects()
        (pods,) = (
            one
            for one in made
            if (one["kind"], one["metadata"]["name"]) == ("Deployment", "cardquota")
        )
        named = {
            one["name"]: one["containerPort"]
            for one in pods["spec"]["template"]["spec"]["containers"][0]["ports"]
        }
        ports = dict(zip(named, free_ports(len(named)), strict=True))
        replica = outside(
            release,
            tmp_path,
            {
                "scheduler": "volcano",
                "webhook": {"port": ports["webhook"]},
                "metrics": {"port": ports["metrics"]},
                "probes": {"port": ports["probes"]},
                "extender": {"enabled": True, "port": ports["extender"]},
                "volcano": {"enqueue": {"port": ports["enqueue"]}},
            },
        )
        replica.metrics_port = ports["metrics"]
        replica.start()
        try:
            eventually(lambda: listening(replica.process.pid) == set(ports.values()), "all servers")
        finally:
            replica.stop()
        policies = [one["spec"] for one in made if one["kind"] == "NetworkPolicy"]
        let_in = {
            port["port"] for one in policies for rule in one["ingress"] for port in rule["ports"]
        }
        assert let_in == set(named) - {"probes"}, "the kubelet's probes are always let in"
        services = [one["spec"] for one in made if one["kind"] == "Service"]
        assert {port["targetPort"] for one in services for port in one["ports"]} == let_in
    finally:
        release("uninstall")


def listening(pid: int) -> set[int]:
    """The TCP ports on which a process listens."""
    sockets = set[str]()
    for fd in Path(f"/proc/{pid}/fd").iterdir():
        with suppress(FileNotFoundError):  # it is closed by now
            sockets.add(str(fd.readlink()))
    rows = [
        line.split()
        for kind in ("tcp", "tcp6")
        for line in Path(f"/proc/{pid}/net/{kind}").read_text().splitlines()[1:]
    ]
    return {
        int(row[1].rpartition(":")[2], 16)
        for row in rows
        if row[3] == "0A" and f"socket:[{row[9]}]" in sockets
    }

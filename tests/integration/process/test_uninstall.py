"""The way out (U5, U6): nothing of the product is left, all of others is, and no pod is held up."""

from collections.abc import Iterator

import pytest
import yaml

from builders import a_pod
from cardquota.quota import vocabulary as v
from cardquota_dev.paths import CHECKOUT
from cardquota_dev.testing import Cluster, eventually, fresh_namespace, running_plane
from integration.asking import Object, ask
from integration.plugin import plugin
from integration.roomy_nodes import T1000, add_roomy_nodes
from integration.team import QUEUES, Team, released

from .outage import answered
from .running import QUICK
from .test_pause import KINDS, are_totals_exact, creating, done, waiting

pytestmark = [pytest.mark.plane, pytest.mark.disruptive, pytest.mark.long]

BASE = CHECKOUT / "manifests" / "base"
APPLIED = (
    *("namespace", "rbac", "roles", "flowschema", "service", "networkpolicy", "pdb", "deployment"),
)
OURS = (
    *(f"/apis/admissionregistration.k8s.io/v1/{kind}" for kind in KINDS),
    *(f"/apis/flowcontrol.apiserver.k8s.io/v1/{it}" for it in ("flowschemas",)),
    "/apis/flowcontrol.apiserver.k8s.io/v1/prioritylevelconfigurations",
    *(f"/apis/rbac.authorization.k8s.io/v1/cluster{it}" for it in ("roles", "rolebindings")),
)
SYSTEM = f"/api/v1/namespaces/{v.OPERATOR_NAMESPACE}"


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    folder = tmp_path_factory.mktemp("uninstall")
    config = folder / "config.yaml"
    config.write_text(yaml.safe_dump(QUICK))
    with running_plane(folder / "plane", config=config) as found:
        add_roomy_nodes(found)
        yield found


def install(cluster: Cluster) -> None:
    """All that an administrator applies. The operator itself runs beside, as the plane's."""
    assert cluster.folder is not None
    private = cluster.folder.private
    files = [BASE / f"{name}.yaml" for name in APPLIED]
    files += [private / "configuration.json", private / "manifests.yaml"]
    for flag in files:
        applied = cluster.kubectl("apply", "-f", str(flag))
        assert applied.returncode == 0, applied.stderr
    eventually(lambda: answered(cluster), "the webhooks answer")


def left(cluster: Cluster) -> set[str]:
    """What is there whose name says that it is the product's; not the plane's own tenant."""
    found = set()
    for path in OURS:
        for one in ask(cluster, "GET", path).body["items"]:
            name = one["metadata"]["name"]
            if name.startswith("cardquota") and name != "cardquota-dev-tenant":
                found.add(f"{path.rpartition('/')[2]}/{name}")
    if ask(cluster, "GET", SYSTEM).ok:
        found.add("namespace")
    return found


def theirs(cluster: Cluster) -> dict[str, Object]:
    """Objects of others that look like the product's: by name, or by label."""
    webhook = {"apiVersion": "admissionregistration.k8s.io/v1", "webhooks": []}
    kind = "ValidatingWebhookConfiguration"
    label = {"app.kubernetes.io/name": "cardquota"}
    admission = "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations"
    role = {"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRole", "rules": []}
    roles = "/apis/rbac.authorization.k8s.io/v1/clusterroles"
    maps = "/api/v1/namespaces/kube-system/configmaps"
    found = {
        f"{admission}/cardquota-of-others": {
            **webhook, "kind": kind, "metadata": {"name": "cardquota-of-others"},
        },
        f"{admission}/quotas": {
            **webhook, "kind": kind, "metadata": {"name": "quotas", "labels": label},
        },
        f"{roles}/cardquotas": {**role, "metadata": {"name": "cardquotas", "labels": label}},
        f"{maps}/cardquota": {
            "apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "cardquota"},
        },
    }  # fmt: skip
    for path, body in found.items():
        assert ask(cluster, "POST", path.rpartition("/")[0], body).code in (201, 409)
    return found


def test_u5_u6_the_way_out_and_back(cluster: Cluster, unique: str) -> None:
    foreign = theirs(cluster)
    kept = {one.rpartition("/")[2] for one in foreign}
    install(cluster)
    with fresh_namespace(cluster, unique) as namespace:
        team = Team(cluster, namespace, unique)
        team.has_queue({T1000: 2})
        team.until_row(T1000, quota=2)
        assert team.create(team.a_pod("runs", 2, T1000)).ok
        team.until_bound("runs")
        assert team.create(waiting(team, "waits", 2)).ok
        half_done_and_with_gates_kept(team)
        assert {one.rpartition("/")[2] for one in left(cluster)} <= kept
        installed_again(team)
        while_pods_are_created(team)
        assert {one.rpartition("/")[2] for one in left(cluster)} <= kept
        for path in foreign:
            assert ask(cluster, "GET", path).ok, path
        again = done(cluster, "uninstall", "--gates=open", "--yes")
        assert again["steps"] == []
        assert ask(cluster, "GET", QUEUES).body["items"]
        with_definitions(cluster)
        assert team.pod("runs")["status"]["phase"] == "Running"


def half_done_and_with_gates_kept(team: Team) -> None:
    """As if the command had been cut off after its first steps."""
    cluster = team.cluster
    admission = "/apis/admissionregistration.k8s.io/v1"
    for gone in (
        f"{admission}/validatingadmissionpolicybindings/cardquota-gate-required",
        f"{admission}/mutatingwebhookconfigurations/cardquota",
        "/apis/rbac.authorization.k8s.io/v1/clusterroles/cardquota-tenant",
    ):
        assert ask(cluster, "DELETE", gone).ok
    others = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "dashboards"}}
    assert ask(cluster, "POST", f"{SYSTEM}/configmaps", others).ok
    found = done(cluster, "uninstall", "--gates=keep", "--yes")
    assert any(note.endswith("removes it: 1 pod.") for note in found["notes"])
    assert any("others have configmaps dashboards in it" in note for note in found["notes"])
    assert ask(cluster, "GET", f"{SYSTEM}/configmaps/dashboards").ok
    assert ask(cluster, "DELETE", f"{SYSTEM}/configmaps/dashboards").ok
    assert not released(team.pod("waits"))
    assert done(cluster, "uninstall", "--gates=keep", "--yes")["steps"][-1]["object"] == (
        f"Namespace <{v.OPERATOR_NAMESPACE}>"
    )
    eventually(lambda: not ask(cluster, "GET", SYSTEM).ok, "the namespace is gone")


def installed_again(team: Team) -> None:
    """Who was kept at the gate is judged again."""
    install(team.cluster)
    eventually(lambda: plugin(team.cluster.kubeconfig, "queue", team.queue_name()).returncode == 0)
    team.delete(a_pod("runs"))
    team.until_bound("waits")
    eventually(lambda: are_totals_exact(team), "totals")
    assert team.create(waiting(team, "runs", 2)).ok
    team.set_quota({T1000: 4})
    team.until_bound("runs")


def while_pods_are_created(team: Team) -> None:
    """No pod is refused, and none is left with a gate that nobody opens."""
    with creating(team) as answers:
        eventually(lambda: len(answers) > 5, "pods")
        assert not released(answers[-1]["pod"])
        found = done(team.cluster, "uninstall", "--gates=open", "--yes")
        count = len(answers)
        eventually(lambda: len(answers) > count + 5, "pods")
    assert [one for one in answers if one["code"] != 201] == []
    assert any(one["action"] == "open" for one in found["steps"])
    assert all(map(released, team.pods()))
    actions = [(one["action"], one["object"].partition(" ")[0]) for one in found["steps"]]
    order = [
        ("delete", "ValidatingAdmissionPolicyBinding"),
        ("delete", "MutatingWebhookConfiguration"),
        ("delete", "Deployment"),
        ("open", "the"),
        ("delete", "ClusterRole"),
    ]
    assert sorted(order, key=actions.index) == order
    eventually(lambda: not ask(team.cluster, "GET", SYSTEM).ok, "the namespace is gone")


def with_definitions(cluster: Cluster) -> None:
    dry = done(cluster, "uninstall", "--gates=open", "--crds")
    assert any("1 Queue" in note for note in dry["notes"])
    assert len(dry["steps"]) == 5
    done(cluster, "uninstall", "--gates=open", "--crds", "--yes")
    eventually(lambda: not ask(cluster, "GET", QUEUES).ok, "no queues")
    assert done(cluster, "uninstall", "--gates=open", "--crds", "--yes")["steps"] == []

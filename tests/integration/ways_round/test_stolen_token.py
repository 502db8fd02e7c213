"""Our own service account, in somebody else's hands: what its token is good for, and what not.

It may open gates in the term of the current leader (that is its work), so a thief can let pods
through beyond a quota, and rewrite our own two webhook configurations. Nothing else is in reach.
Of pods and groups `install/policies/test_policies.py` shows it.
"""

import pytest

from cardquota.quota import vocabulary as v
from integration.asking import MERGE, ApiReply, Object, ask
from integration.roomy_nodes import T1000
from integration.team import QUEUES, Team, notes
from integration.workload_bodies import create
from integration.workload_bodies import path as path_of

US = f"system:serviceaccount:{v.OPERATOR_NAMESPACE}:{v.SERVICE_ACCOUNT}"
OWN = f"/api/v1/namespaces/{v.OPERATOR_NAMESPACE}"
LEASES = f"/apis/coordination.k8s.io/v1/namespaces/{v.OPERATOR_NAMESPACE}/leases"
ADMISSION = "/apis/admissionregistration.k8s.io/v1"
RBAC = "/apis/rbac.authorization.k8s.io/v1"


def as_us(team: Team, method: str, path: str, body: object = None) -> ApiReply:
    kind = MERGE if method == "PATCH" else "application/json"
    return ask(team.cluster, method, path, body, content_type=kind, as_user=US)


def waiting(team: Team) -> str:
    """A pod at the gate of a full queue; its path."""
    team.has_queue(team.a_queue({T1000: 1}).with_policy("Gate"))
    assert team.create(team.a_pod("a", 1, T1000)).ok
    team.until_open("a")
    pod = team.a_pod("b", 1, T1000)
    assert team.create(pod).ok
    return f"{team.path(pod)}/b"


@pytest.mark.slow
def test_of_a_workload_nothing_but_our_condition(team: Team) -> None:
    """R5: what wakes a controller. A Job may not be said to be complete."""
    team.has_queue({T1000: 1})
    for kind in ("ReplicaSet", "StatefulSet", "DaemonSet", "Job"):
        nothing_but_our_condition(team, kind)


def nothing_but_our_condition(team: Team, kind: str) -> None:
    create(team, kind, team.a_pod("web", 1, T1000).on_nodes_labelled({"no": "node"}))
    where = f"{path_of(team, kind)}/web/status"
    own: Object = {"type": v.WOKEN_CONDITION, "status": "True"}
    assert as_us(team, "PATCH", where, {"status": {"conditions": [own]}}).ok
    others: list[Object] = [
        {"status": {"conditions": [own, {"type": "Complete", "status": "True"}]}},
        {"status": {"conditions": [own, {"type": "Failed", "status": "True"}]}},
        {"status": {"replicas": 7, "currentNumberScheduled": 7, "succeeded": 7}},
        {"status": {"observedGeneration": 99, "failed": 7}},
        {"metadata": {"annotations": {v.QUEUE_NAME: "other"}}},
        {"metadata": {"labels": {"a": "b"}}},
        {"metadata": {"finalizers": ["example.com/hold"]}},
    ]
    for change in others:
        reply = as_us(team, "PATCH", where, change)
        unchanged = reply.ok and "metadata" in change
        assert unchanged or reply.code in (403, 422), (change, reply)
        if reply.code == 403:
            assert "cardquota may change only the condition" in reply.message
    assert as_us(team, "PATCH", where.removesuffix("/status"), {"spec": {}}).code == 403
    stored = ask(team.cluster, "GET", where.removesuffix("/status")).body
    assert v.QUEUE_NAME not in notes(stored)
    assert "a" not in stored["metadata"].get("labels", {})
    assert "finalizers" not in stored["metadata"]


def test_everything_else_it_has_no_right_to(team: Team) -> None:
    """By its roles: each line is refused with 403, whatever the object."""
    path = waiting(team)
    pods = path.rpartition("/")[0]
    queue = f"{team.path(team.a_queue({}))}/{team.queue_name()}"
    mine = {"metadata": {"name": "mine"}}
    pod = team.wire(team.a_pod("c", 1, T1000))
    for method, where, body in (
        ("POST", pods, pod),
        ("PUT", path, team.pod("b")),
        ("DELETE", path, None),
        ("DELETE", pods, None),
        ("PATCH", f"{path}/status", {}),
        ("PATCH", f"{path}/ephemeralcontainers", {}),
        ("PATCH", f"{path}/resize", {}),
        ("POST", f"{path}/binding", mine),
        ("POST", f"{path}/eviction", mine),
        ("POST", f"{path}/exec?command=sh", None),
        ("GET", f"{path}/log", None),
        ("GET", f"/api/v1/namespaces/{team.namespace}/secrets", None),
        ("POST", f"/api/v1/namespaces/{team.namespace}/secrets", mine),
        ("GET", f"{OWN}/secrets", None),
        ("GET", f"{OWN}/secrets/other", None),
        ("DELETE", f"{OWN}/secrets/cardquota-webhook", None),
        ("POST", f"{OWN}/serviceaccounts/{v.SERVICE_ACCOUNT}/token", {}),
        ("POST", f"{OWN}/pods", pod),
        ("PATCH", f"{OWN}/configmaps/cardquota", {}),
        ("PATCH", f"/apis/apps/v1/namespaces/{v.OPERATOR_NAMESPACE}/deployments/cardquota", {}),
        ("DELETE", f"{LEASES}/{v.LEASE}", None),
        ("PATCH", f"{LEASES}/other", {}),
        ("PATCH", f"{RBAC}/clusterroles/cardquota", {}),
        ("POST", f"{RBAC}/clusterrolebindings", mine),
        ("PATCH", f"{RBAC}/namespaces/{v.OPERATOR_NAMESPACE}/roles/cardquota", {}),
        ("PATCH", f"{ADMISSION}/validatingwebhookconfigurations/other", {}),
        ("POST", f"{ADMISSION}/mutatingwebhookconfigurations", mine),
        ("DELETE", f"{ADMISSION}/mutatingwebhookconfigurations/cardquota", None),
        ("PATCH", f"{ADMISSION}/validatingadmissionpolicies/cardquota-pods", {}),
        ("DELETE", f"{ADMISSION}/validatingadmissionpolicybindings/cardquota-pods", None),
        ("PATCH", "/api/v1/nodes/hopper-1", {}),
        ("PATCH", "/api/v1/nodes/hopper-1/status", {}),
        ("PATCH", f"/api/v1/namespaces/{team.namespace}", {}),
        ("PATCH", queue, {"spec": {"weight": 2}}),
        ("DELETE", queue, None),
        ("POST", QUEUES, mine),
        ("DELETE", f"/api/v1/namespaces/{team.namespace}/events", None),
    ):
        reply = as_us(team, method, where, body)
        assert reply.code == 403, (method, where, reply)


def test_it_speaks_for_nobody_else(team: Team) -> None:
    """No impersonation: it cannot make itself somebody with more rights."""
    for resource in ("users", "groups", "serviceaccounts"):
        attributes = {"verb": "impersonate", "resource": resource}
        body = {"spec": {"user": US, "resourceAttributes": attributes}}
        path = "/apis/authorization.k8s.io/v1/subjectaccessreviews"
        assert not ask(team.cluster, "POST", path, body).body["status"]["allowed"]

"""Our own service account, in somebody else's hands: what its token is good for, and what not.

It may open gates in the term of the current leader (that is its work), so a thief can let pods
through beyond a quota, and rewrite our own two webhook configurations. Nothing else is in reach.
"""

import pytest

from cardquota.quota import vocabulary as v
from integration.asking import MERGE, ApiReply, Object, ask
from integration.roomy_nodes import T1000
from integration.team import QUEUES, Team, notes, released
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


CHANGES: list[Object] = [
    {"spec": {"nodeSelector": {"a": "b"}}},
    {"spec": {"activeDeadlineSeconds": 1}},
    {"metadata": {"labels": {"a": "b"}}},
    {"metadata": {"finalizers": ["example.com/hold"]}},
    {"metadata": {"annotations": {v.CARD_NAME: "NVIDIA-T2000"}}},
    {"metadata": {"annotations": {v.QUEUE_NAME: "other"}}},
    {"metadata": {"annotations": {"example.com/other": "x"}}},
    {
        "metadata": {
            "ownerReferences": [{"apiVersion": "v1", "kind": "Node", "name": "n", "uid": "u"}]
        }
    },
]


def test_of_a_pod_nothing_but_gates_affinity_and_our_annotations(team: Team) -> None:
    path = waiting(team)
    spec = team.pod("b")["spec"]
    (container,) = spec["containers"]
    image: Object = {"spec": {"containers": [{**container, "image": "theirs"}]}}
    everywhere = [*spec.get("tolerations", ()), {"operator": "Exists"}]
    for change in (image, {"spec": {"tolerations": everywhere}}, *CHANGES):
        reply = as_us(team, "PATCH", path, change)
        assert reply.code == 403, (change, reply)
        assert "cardquota may change only" in reply.message

    # A gate opens in the current term alone.
    holder = ask(team.cluster, "GET", f"{LEASES}/{v.LEASE}").body["spec"]["holderIdentity"]
    for term in ("", "cardquota-0_stale", f"{holder}x"):
        stamps = {v.TERM: term, v.CHARGED_QUEUE: team.queue_name(), v.ALLOCATED: "{}"}
        change = {"metadata": {"annotations": stamps}, "spec": {"schedulingGates": None}}
        assert as_us(team, "PATCH", path, change).code == 403
    assert as_us(team, "PATCH", path, {"spec": {"schedulingGates": None}}).code == 403
    assert not released(team.pod("b"))


def test_of_a_group_nothing_but_reservation_and_phase(team: Team) -> None:
    team.has_queue({T1000: 3})
    gang = team.a_gang("gang", 2)
    assert team.create(gang).ok
    for change in (
        {"spec": {"queue": "other"}},
        {"spec": {"minMember": 1}},
        {"metadata": {"labels": {"a": "b"}}},
        {"metadata": {"annotations": {v.REQUEST: "{}"}}},
    ):
        assert as_us(team, "PATCH", f"{team.path(gang)}/gang", change).code == 403
    stale = gang.reserving(team.queue_name(), {T1000: 3}, term="stale").body["metadata"]
    change = {"metadata": {"annotations": stale["annotations"]}}
    assert as_us(team, "PATCH", f"{team.path(gang)}/gang", change).code == 403


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

"""Who tries: users with the roles that the product ships, and one who may do everything to pods."""

from cardquota_dev.testing import Cluster, eventually
from integration.asking import Object, ask
from integration.team import Team

TENANT = "ways-tenant"
"""Edits the team's namespace, and may see the queues."""
QUEUE_ADMIN = "ways-queue-admin"
"""Sets quotas, and nothing else."""
MIGHTY = "ways-mighty"
"""May do everything with pods and pod groups of the team, subresources too: what is refused to
this one is refused by the product or by the API server itself, not for want of a right."""

_OF_PODS = ("", "/status", "/ephemeralcontainers", "/resize", "/binding", "/eviction")

_RBAC = "/apis/rbac.authorization.k8s.io/v1"
_ROLE_API = "rbac.authorization.k8s.io"


def invite(team: Team) -> None:
    """Give each of them their roles; returns once those hold."""
    space = f"{_RBAC}/namespaces/{team.namespace}"
    pods = ["bindings", *(f"pods{sub}" for sub in _OF_PODS)]
    groups = ["podgroups", "podgroups/status"]
    rules = [
        {"apiGroups": [""], "resources": pods, "verbs": ["*"]},
        {"apiGroups": ["scheduling.volcano.sh"], "resources": groups, "verbs": ["*"]},
    ]
    _post(team.cluster, f"{space}/roles", {"metadata": {"name": MIGHTY}, "rules": rules})
    _post(team.cluster, f"{space}/rolebindings", _binding(MIGHTY, "Role", MIGHTY))
    _post(team.cluster, f"{space}/rolebindings", _binding(TENANT, "ClusterRole", "edit"))
    for user, role in ((TENANT, "cardquota-tenant"), (QUEUE_ADMIN, "cardquota-queue-admin")):
        _post(team.cluster, f"{_RBAC}/clusterrolebindings", _binding(user, "ClusterRole", role))
    for user, verb, resource in (
        (MIGHTY, "patch", "pods/status"),
        (TENANT, "create", "pods"),
        (TENANT, "create", "podgroups.scheduling.volcano.sh"),
        (TENANT, "list", "queues.scheduling.volcano.sh"),
        (QUEUE_ADMIN, "create", "queues.scheduling.volcano.sh"),
    ):
        eventually(
            lambda u=user, v=verb, r=resource: may(team, u, v, r), f"{user} may {verb} {resource}"
        )


def may(team: Team, user: str, verb: str, resource: str) -> bool:
    """Whether a user has a right in the team's namespace, by the API server's own word."""
    name, _, group = resource.partition(".")
    plural, _, sub = name.partition("/")
    attributes = {
        "verb": verb,
        "group": group,
        "resource": plural,
        "subresource": sub,
        "namespace": "" if plural == "queues" else team.namespace,
    }
    body = {"spec": {"user": user, "resourceAttributes": attributes}}
    path = "/apis/authorization.k8s.io/v1/subjectaccessreviews"
    return bool(ask(team.cluster, "POST", path, body).body["status"]["allowed"])


def _binding(user: str, kind: str, role: str) -> Object:
    return {
        "metadata": {"name": user},
        "roleRef": {"apiGroup": _ROLE_API, "kind": kind, "name": role},
        "subjects": [{"apiGroup": _ROLE_API, "kind": "User", "name": user}],
    }


def _post(cluster: Cluster, path: str, body: Object) -> None:
    reply = ask(cluster, "POST", path, body)
    assert reply.code in (201, 409), reply

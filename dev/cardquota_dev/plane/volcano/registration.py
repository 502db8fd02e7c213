"""What an installer of Volcano applies: accounts, roles, the queue `default`, the webhooks."""

import base64
from collections.abc import Sequence
from typing import Any, Final

from ..credentials.keys import Keys
from .admission.webhook_server import JOB_DEFAULTS_PATH, JOB_PATH, QUEUE_PATH
from .api_objects import BATCH, BUS, SCHEDULING, Json

ACCOUNTS: Final = ("volcano-scheduler", "volcano-controllers", "volcano-admission")
"""The service accounts: each process has one."""

_RBAC: Final = "rbac.authorization.k8s.io"
_READ: Final = ("get", "list", "watch")
_GROUP, _VERSION = SCHEDULING.split("/")
_BATCH: Final = BATCH.split("/", maxsplit=1)[0]
_BUS: Final = BUS.split("/", maxsplit=1)[0]

_Rule = tuple[str, tuple[str, ...], tuple[str, ...]]
"""API group, resources, verbs."""

_RULES: Final[dict[str, tuple[_Rule, ...]]] = {
    "volcano-scheduler": (
        ("", ("pods", "nodes"), _READ),
        ("", ("pods/binding",), ("create",)),
        ("", ("events",), ("create", "patch")),
        (_GROUP, ("podgroups",), (*_READ, "update")),
        (_GROUP, ("podgroups/status",), ("update",)),
        (_GROUP, ("queues",), _READ),
        (_GROUP, ("queues/status",), ("update",)),
    ),
    "volcano-controllers": (
        ("", ("pods",), (*_READ, "create", "delete", "patch")),
        ("", ("events",), ("create", "patch")),
        (_GROUP, ("podgroups",), (*_READ, "create", "delete", "update")),
        (_GROUP, ("queues",), _READ),
        (_GROUP, ("queues/status",), ("update",)),
        (_BATCH, ("jobs",), _READ),
        (_BATCH, ("jobs/status",), ("update",)),
        # An owner reference that blocks the owner's deletion needs this.
        (_BATCH, ("jobs/finalizers",), ("update",)),
        (_BUS, ("commands",), (*_READ, "delete")),
        ("apps", ("replicasets", "statefulsets", "daemonsets"), ("get",)),
        ("batch", ("jobs",), ("get",)),
    ),
    "volcano-admission": ((_GROUP, ("queues",), ("get", "list")),),
    "volcano-user": (
        (_BATCH, ("jobs",), ("*",)),
        (_BUS, ("commands",), ("*",)),
    ),
}


def accounts(namespace: str, tenant: str) -> Json:
    """The namespace with the accounts and their roles. `tenant`: a user who may write jobs."""
    items: list[Json] = [{"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": namespace}}]
    for name in ACCOUNTS:
        meta = {"name": name, "namespace": namespace}
        items.append({"apiVersion": "v1", "kind": "ServiceAccount", "metadata": meta})
        subject = {"kind": "ServiceAccount", **meta}
        items += [_role(name, _RULES[name]), _role_binding(name, subject)]
    user = {"apiGroup": _RBAC, "kind": "User", "name": tenant}
    items += [_role("volcano-user", _RULES["volcano-user"]), _role_binding("volcano-user", user)]
    return _list(items)


def default_queue() -> Json:
    """The queue of whoever names none."""
    return {
        "apiVersion": SCHEDULING,
        "kind": "Queue",
        "metadata": {"name": "default"},
        "spec": {"weight": 1},
    }


def webhooks(port: int, keys: Keys) -> Json:
    """The registrations of the webhooks on that port of this machine."""
    authority = base64.b64encode(keys.authority.read_bytes()).decode()

    def hook(name: str, path: str, group: str, resource: str, operations: Sequence[str]) -> Json:
        rule = {
            "apiGroups": [group],
            "apiVersions": ["*"],
            "resources": [resource],
            "operations": list(operations),
        }
        return {
            "name": f"{name}.volcano.sh",
            "clientConfig": {"url": f"https://127.0.0.1:{port}{path}", "caBundle": authority},
            "rules": [rule],
            "sideEffects": "None",
            "admissionReviewVersions": ["v1"],
            "failurePolicy": "Fail",
        }

    both = ("CREATE", "UPDATE")
    queue = hook("validatequeue", QUEUE_PATH, _GROUP, "queues", both)
    job = hook("validatejob", JOB_PATH, _BATCH, "jobs", ("CREATE",))
    defaults = hook("mutatejob", JOB_DEFAULTS_PATH, _BATCH, "jobs", ("CREATE",))
    return _list(
        [
            _hooks("Validating", "volcano-admission-service-queues-validate", queue),
            _hooks("Validating", "volcano-admission-service-jobs-validate", job),
            _hooks("Mutating", "volcano-admission-service-jobs-mutate", defaults),
        ]
    )


def _hooks(kind: str, name: str, hook: Json) -> Json:
    return {
        "apiVersion": "admissionregistration.k8s.io/v1",
        "kind": f"{kind}WebhookConfiguration",
        "metadata": {"name": name},
        "webhooks": [hook],
    }


def _role(name: str, rules: Sequence[_Rule]) -> Json:
    return {
        "apiVersion": f"{_RBAC}/v1",
        "kind": "ClusterRole",
        "metadata": {"name": name},
        "rules": [
            {"apiGroups": [group], "resources": list(resources), "verbs": list(verbs)}
            for group, resources, verbs in rules
        ],
    }


def _role_binding(name: str, subject: dict[str, Any]) -> Json:
    return {
        "apiVersion": f"{_RBAC}/v1",
        "kind": "ClusterRoleBinding",
        "metadata": {"name": name},
        "roleRef": {"apiGroup": _RBAC, "kind": "ClusterRole", "name": name},
        "subjects": [subject],
    }


def _list(items: list[Json]) -> Json:
    return {"apiVersion": "v1", "kind": "List", "items": items}

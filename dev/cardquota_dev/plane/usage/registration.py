"""What makes the API server pass requests on to the stand-in, and lets it read what it needs."""

import base64
from collections.abc import Mapping
from typing import Any, Final

from ..credentials.identities import USAGE_USER
from ..credentials.keys import Keys
from .apis import CUSTOM_METRICS, RESOURCE_METRICS

_NAMESPACE: Final = "kube-system"
_SERVICE: Final = "usage"
HOST: Final = f"{_SERVICE}.{_NAMESPACE}.svc"
"""The name that the API server expects in the certificate."""

_ROLE: Final = "cardquota-dev-usage"
_RBAC: Final = "rbac.authorization.k8s.io"
_PRIORITY: Final = 100
"""As metrics-server's: `pods` remain the core group's."""


def objects(port: int, keys: Keys) -> dict[str, Any]:
    """A list of a Service, the two APIServices and the role of the stand-in's user.

    An APIService has no URL, and there is no cluster network: the Service is an external name.
    """
    service = {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {"name": _SERVICE, "namespace": _NAMESPACE},
        "spec": {"type": "ExternalName", "externalName": "127.0.0.1", "ports": [{"port": port}]},
    }
    authority = base64.b64encode(keys.authority.read_bytes()).decode()
    apis = [_api_service(one, port, authority) for one in (RESOURCE_METRICS, CUSTOM_METRICS)]
    return {"apiVersion": "v1", "kind": "List", "items": [*_rights(), service, *apis]}


def api_services() -> list[str]:
    """The names of the two APIServices."""
    return [_name(one) for one in (RESOURCE_METRICS, CUSTOM_METRICS)]


def is_available(api_service: Mapping[str, Any] | None) -> bool:
    """Whether the API server passes requests on to it. None: it does not exist."""
    conditions = ((api_service or {}).get("status") or {}).get("conditions") or ()
    return any(one["type"] == "Available" and one["status"] == "True" for one in conditions)


def _api_service(group_version: str, port: int, authority: str) -> dict[str, Any]:
    group, _, version = group_version.partition("/")
    return {
        "apiVersion": "apiregistration.k8s.io/v1",
        "kind": "APIService",
        "metadata": {"name": _name(group_version)},
        "spec": {
            "group": group,
            "version": version,
            "groupPriorityMinimum": _PRIORITY,
            "versionPriority": _PRIORITY,
            "caBundle": authority,
            "service": {"name": _SERVICE, "namespace": _NAMESPACE, "port": port},
        },
    }


def _name(group_version: str) -> str:
    group, _, version = group_version.partition("/")
    return f"{version}.{group}"


def _rights() -> list[dict[str, Any]]:
    rule = {
        "apiGroups": [""],
        "resources": ["pods", "namespaces", "nodes"],
        "verbs": ["get", "list"],
    }
    return [
        {
            "apiVersion": f"{_RBAC}/v1",
            "kind": "ClusterRole",
            "metadata": {"name": _ROLE},
            "rules": [rule],
        },
        {
            "apiVersion": f"{_RBAC}/v1",
            "kind": "ClusterRoleBinding",
            "metadata": {"name": _ROLE},
            "roleRef": {"apiGroup": _RBAC, "kind": "ClusterRole", "name": _ROLE},
            "subjects": [{"apiGroup": _RBAC, "kind": "User", "name": USAGE_USER}],
        },
    ]

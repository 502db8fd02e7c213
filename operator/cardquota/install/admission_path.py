"""The paths of webhook configurations and policies at the API server."""

from collections.abc import Mapping
from typing import Any, Final

_GROUP: Final = "/apis/admissionregistration.k8s.io/v1"


def plural(kind: str) -> str:
    """The resource of a kind, as roles and paths name it."""
    return f"{kind.lower()}s".replace("policys", "policies")


def admission_path(document: Mapping[str, Any]) -> str:
    """The path of the object that a rendered document describes."""
    return f"{_GROUP}/{plural(document['kind'])}/{document['metadata']['name']}"

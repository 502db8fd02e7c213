"""Where the API server serves webhook configurations and policies."""

from collections.abc import Mapping
from typing import Any, Final

_GROUP: Final = "/apis/admissionregistration.k8s.io/v1"


def plural(kind: str) -> str:
    """The resource of a kind, as roles and addresses name it."""
    return f"{kind.lower()}s".replace("policys", "policies")


def admission_path(document: Mapping[str, Any]) -> str:
    """The address of the object that a rendered document describes."""
    return f"{_GROUP}/{plural(document['kind'])}/{document['metadata']['name']}"

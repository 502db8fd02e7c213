"""Which namespaces webhooks and policies cover: never exempt ones, never those set to `off`.

The selectors are evaluated before any CEL and any call: whatever happens to us, the namespaces that
they leave out go on.
"""

from collections.abc import Iterable
from typing import Any, Final

from ..quota.vocabulary import (
    NAMESPACE_AUDIT,
    NAMESPACE_ENFORCED,
    NAMESPACE_MODE,
    NAMESPACE_OFF,
    Mode,
)
from ..settings import Settings
from .cel import all_of, literal, literals

NAME: Final = "kubernetes.io/metadata.name"
"""The label with a namespace's own name, maintained by the API server."""


def _expression(key: str, operator: str, values: Iterable[str]) -> dict[str, Any]:
    return {"key": key, "operator": operator, "values": list(values)}


def watched(settings: Settings, *without: str) -> dict[str, Any]:
    """Selects every namespace except the exempt ones, those set to `off` and those whose label has
    a value in `without`.
    """
    return {
        "matchExpressions": [
            _expression(NAME, "NotIn", settings.unwatched_namespaces),
            _expression(NAMESPACE_MODE, "NotIn", [NAMESPACE_OFF, *without]),
        ]
    }


def unlabelled(settings: Settings) -> dict[str, Any]:
    """Selects the watched namespaces whose label says nothing that is known."""
    return watched(settings, NAMESPACE_ENFORCED, NAMESPACE_AUDIT)


def in_watched(settings: Settings, *without: Mode) -> str:
    """`watched` as CEL, for the validations of a policy."""
    modes = literals(str(mode) for mode in (Mode.OFF, *without))
    return all_of(
        f"!(namespaceObject.metadata.name in {literals(settings.unwatched_namespaces)})",
        f"!(namespaceObject.metadata.?labels[?{literal(NAMESPACE_MODE)}].orValue('') in {modes})",
    )


def labelled(settings: Settings, value: str) -> dict[str, Any]:
    """Selects the watched namespaces whose label has this value."""
    return {
        "matchExpressions": [
            _expression(NAME, "NotIn", settings.unwatched_namespaces),
            _expression(NAMESPACE_MODE, "In", [value]),
        ]
    }


def own(settings: Settings) -> dict[str, Any]:
    """Selects only the operator's own namespace."""
    return {"matchExpressions": [_expression(NAME, "In", [settings.namespace])]}

"""Which namespaces webhooks and policies cover: never exempt ones, never those set to `off`.

The selectors are evaluated before any CEL and any call: whatever happens to us, the namespaces that
they leave out go on.
"""

from collections.abc import Iterable
from typing import Any, Final

from ..quota.vocabulary import NAMESPACE_MODE, Mode
from ..settings import Settings
from .cel import all_of, literal, literals

NAME: Final = "kubernetes.io/metadata.name"
"""The label with a namespace's own name, maintained by the API server."""

ENFORCED: Final = "enforced"
"""Value of the namespace label under which a card pod without a queue is refused."""


def _expression(key: str, operator: str, values: Iterable[str]) -> dict[str, Any]:
    return {"key": key, "operator": operator, "values": list(values)}


def watched(settings: Settings, *without: Mode) -> dict[str, Any]:
    """Selects every namespace except the exempt ones, those set to `off` and those in `without`."""
    return {
        "matchExpressions": [
            _expression(NAME, "NotIn", settings.unwatched_namespaces),
            _expression(NAMESPACE_MODE, "NotIn", [str(mode) for mode in (Mode.OFF, *without)]),
        ]
    }


def in_watched(settings: Settings, *without: Mode) -> str:
    """`watched` as CEL, for the validations of a policy."""
    modes = literals(str(mode) for mode in (Mode.OFF, *without))
    return all_of(
        f"!(namespaceObject.metadata.name in {literals(settings.unwatched_namespaces)})",
        f"!(namespaceObject.metadata.?labels[?{literal(NAMESPACE_MODE)}].orValue('') in {modes})",
    )


def opted_in(settings: Settings) -> dict[str, Any]:
    """Selects the namespaces whose label requests the full set of rules."""
    return {
        "matchExpressions": [
            _expression(NAME, "NotIn", settings.unwatched_namespaces),
            _expression(NAMESPACE_MODE, "In", [ENFORCED, str(Mode.AUDIT)]),
        ]
    }


def enforced(settings: Settings) -> dict[str, Any]:
    """Selects the namespaces whose label enforces the full set of rules."""
    return {
        "matchExpressions": [
            _expression(NAME, "NotIn", settings.unwatched_namespaces),
            _expression(NAMESPACE_MODE, "In", [ENFORCED]),
        ]
    }


def own(settings: Settings) -> dict[str, Any]:
    """Selects only the operator's own namespace."""
    return {"matchExpressions": [_expression(NAME, "In", [settings.namespace])]}

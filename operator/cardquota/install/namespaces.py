"""Which namespaces webhooks and policies look at: never the exempt ones, never those set to `off`.

The selectors stand before any CEL is evaluated and before any call: whatever happens to us, the
namespaces that are left out here go on.
"""

from collections.abc import Iterable
from typing import Any, Final

from ..quota.vocabulary import NAMESPACE_MODE, Mode
from ..settings import Settings
from .cel import all_of, literal, literals

NAME: Final = "kubernetes.io/metadata.name"
"""The label with a namespace's own name, which the API server maintains."""

ENFORCED: Final = "enforced"
"""Value of the namespace label under which a card pod without a queue is refused."""


def _expression(key: str, operator: str, values: Iterable[str]) -> dict[str, Any]:
    return {"key": key, "operator": operator, "values": list(values)}


def watched(settings: Settings, *without: Mode) -> dict[str, Any]:
    """Selects every namespace but the exempt ones, those set to `off` and those in `without`."""
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
    """Selects the namespaces whose label asks for the full set of rules."""
    return {
        "matchExpressions": [
            _expression(NAME, "NotIn", settings.unwatched_namespaces),
            _expression(NAMESPACE_MODE, "In", [ENFORCED, str(Mode.AUDIT)]),
        ]
    }


def enforced(settings: Settings) -> dict[str, Any]:
    """Selects the namespaces whose label has the full set of rules enforced."""
    return {
        "matchExpressions": [
            _expression(NAME, "NotIn", settings.unwatched_namespaces),
            _expression(NAMESPACE_MODE, "In", [ENFORCED]),
        ]
    }


def own(settings: Settings) -> dict[str, Any]:
    """Selects the operator's own namespace alone."""
    return {"matchExpressions": [_expression(NAME, "In", [settings.namespace])]}

"""Whether a pod may run on a node, and whether there is room for it. Pure.

Read: the node's name, selector, required node affinity, taints that keep pods out, and resources.
Not read: affinity between pods, topology spread, ports, volumes, devices that are claimed.
"""

from collections.abc import Mapping
from typing import Any

from ..api_objects import Json, name
from ..resource_amounts import Amounts


def misfit(pod: Json, node: Json, requests: Amounts, idle: Mapping[str, int]) -> str:
    """Why the pod cannot be bound to the node, with so much idle on it. Empty: it can."""
    for resource, amount in requests.items():
        if amount > idle.get(resource, 0):
            return f"Insufficient {resource}"
    return _placement(pod["spec"], node)


def _placement(spec: Json, node: Json) -> str:
    labels: dict[str, str] = node["metadata"].get("labels") or {}
    if node["spec"].get("unschedulable"):
        return "node(s) were unschedulable"
    if any(labels.get(key) != value for key, value in (spec.get("nodeSelector") or {}).items()):
        return "node(s) didn't match Pod's node selector"
    affinity = (spec.get("affinity") or {}).get("nodeAffinity") or {}
    required = affinity.get("requiredDuringSchedulingIgnoredDuringExecution")
    terms = (required or {}).get("nodeSelectorTerms") or ()
    if required is not None and not any(_term(one, labels, name(node)) for one in terms):
        return "node(s) didn't match Pod's node affinity"
    tolerations = spec.get("tolerations") or ()
    for taint in node["spec"].get("taints") or ():
        keeps_out = taint.get("effect") in ("NoSchedule", "NoExecute")
        if keeps_out and not any(_tolerates(one, taint) for one in tolerations):
            return f"node(s) had untolerated taint {taint['key']}"
    return ""


def _term(term: Json, labels: Mapping[str, str], node: str) -> bool:
    expressions, fields = term.get("matchExpressions") or (), term.get("matchFields") or ()
    if not expressions and not fields:
        return False
    return all(_matches(one, labels) for one in expressions) and all(
        _matches(one, {"metadata.name": node}) for one in fields
    )


def _matches(requirement: Mapping[str, Any], labels: Mapping[str, str]) -> bool:
    value = labels.get(requirement["key"])
    values = requirement.get("values") or []
    match requirement["operator"]:
        case "In":
            return value in values
        case "NotIn":
            return value not in values
        case "Exists":
            return value is not None
        case "DoesNotExist":
            return value is None
        case "Gt":
            return _number(value) is not None and int(value or 0) > int(values[0])
        case "Lt":
            return _number(value) is not None and int(value or 0) < int(values[0])
    return False


def _number(text: str | None) -> int | None:
    try:
        return None if text is None else int(text)
    except ValueError:
        return None


def _tolerates(toleration: Mapping[str, Any], taint: Mapping[str, Any]) -> bool:
    if toleration.get("effect") not in (None, "", taint.get("effect")):
        return False
    if toleration.get("operator") == "Exists":
        return toleration.get("key") in (None, "", taint["key"])
    same_key = toleration.get("key") == taint["key"]
    return same_key and (toleration.get("value") or "") == (taint.get("value") or "")

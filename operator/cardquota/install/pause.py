"""The pause (U1): the API server is told to pass by what refuses or gates for quota.

A match condition that is never true is added to these objects, and an annotation that says since
when and by whom. It is added and nothing is changed, so `kubectl apply` and server-side apply,
which leave what others have added, end no pause, nor a part of one; and who takes it away has put
back exactly what was there, without the settings, with the CA and the path of now. What guards the
operator's keys, its gates and its terms has no part in it. Pure.
"""

import re
from collections.abc import Iterator, Mapping
from copy import deepcopy
from typing import Any, Final

from ..quota.messages import report_messages
from ..quota.vocabulary import PAUSED
from .cel import literal
from .comparison import differences
from .policies.admission_policy import PREFIX
from .policies.gate_policies import GATE_DROPPED, GATE_REQUIRED, SET_GATE
from .policies.object_policies import RESOURCE_CLAIMS
from .webhook_objects import REFUSED, REVIEWS

GUARD: Final = f"{PREFIX}pods"
"""The policy by which only the operator opens gates."""
_NEVER: Final = {"name": PAUSED, "expression": "false"}
DEMANDS: Final = (f"{PREFIX}{GATE_REQUIRED}", f"{PREFIX}{RESOURCE_CLAIMS}")
"""The policies that refuse pods, or what pods need, which nobody has reviewed: they are paused, and
taken away, before what reviews pods, and resumed after it. Their bindings have the same names."""
_WEBHOOKS: Final = "WebhookConfiguration"
_OPENED_TO: Final = re.compile(
    r'\((.*)\)\n&& request\.userInfo\.username != "(?:[^"\\]|\\.)*"', re.DOTALL
)


def is_paused_with_others(document: Mapping[str, Any]) -> bool:
    """Whether a pause is about it: it refuses, gates or changes what users write. Questions are
    answered in a pause too, and what only counts refuses nothing.
    """
    kind, name = document["kind"], document["metadata"]["name"]
    if kind.endswith(_WEBHOOKS):
        return not name.endswith((REVIEWS, REFUSED))
    if kind == "MutatingAdmissionPolicy":
        return bool(name == f"{PREFIX}{SET_GATE}")
    return kind == "ValidatingAdmissionPolicy" and name in DEMANDS


def paused(document: Mapping[str, Any], said: str) -> dict[str, Any]:
    """The object in a pause. `said`: since when and by whom; of one that is paused it stays."""
    found = deepcopy(dict(document))
    found["metadata"].setdefault("annotations", {}).setdefault(PAUSED, said)
    for one in _conditioned(found):
        conditions = one.setdefault("matchConditions", [])
        if not any(map(_is_pause, conditions)):
            conditions.append(dict(_NEVER))
    return found


def resumed(document: Mapping[str, Any]) -> dict[str, Any]:
    """The object as it is without a pause, and without `opened_to`."""
    return _unpaused(guarded(document))


def _unpaused(document: Mapping[str, Any]) -> dict[str, Any]:
    found = deepcopy(dict(document))
    annotations = found["metadata"].get("annotations") or {}
    if annotations.pop(PAUSED, None) is not None and not annotations:
        del found["metadata"]["annotations"]
    for one in _conditioned(found):
        conditions = [it for it in one.get("matchConditions") or () if not _is_pause(it)]
        if conditions:
            one["matchConditions"] = conditions
        else:
            one.pop("matchConditions", None)
    return found


def pause_said(document: Mapping[str, Any]) -> str:
    """Since when and by whom it, or a part of it, is paused; empty if it is not."""
    if not any(_is_pause(it) for one in _conditioned(document) for it in _conditions(one)):
        return ""
    annotations = document["metadata"].get("annotations") or {}
    return str(annotations.get(PAUSED) or "nobody knows when")


def opened_to(document: Mapping[str, Any], user: str) -> dict[str, Any]:
    """The policy GUARD, by which now this user too may open gates, without a charge."""
    found = guarded(document)
    variable = _gate_dropped(found)
    if variable is not None:
        but = f"request.userInfo.username != {literal(user)}"
        variable["expression"] = f"({variable['expression']})\n&& {but}"
    return found


def guarded(document: Mapping[str, Any]) -> dict[str, Any]:
    """The policy GUARD as it was before `opened_to`."""
    found = deepcopy(dict(document))
    variable = _gate_dropped(found)
    if variable is not None and (of := _OPENED_TO.fullmatch(variable["expression"])):
        variable["expression"] = of[1]
    return found


def fault(wanted: Mapping[str, Any], found: Mapping[str, Any] | None) -> str:
    """How an object differs from the rendered one, or that it is paused, as a sentence; empty if it
    is right, which GUARD is not while somebody else may open gates. `found`: as the API server
    returns it, None if it is missing.
    """
    kind, name = wanted["kind"], wanted["metadata"]["name"]
    differs = differences(wanted, found and _unpaused(found))
    if differs:
        return report_messages.installation_fault(kind, name, differs)
    said = pause_said(found) if found else ""
    return report_messages.installation_paused(kind, name, said) if said else ""


def _conditioned(document: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """What has match conditions: each webhook, or the spec of a policy."""
    if "webhooks" in document:
        yield from document["webhooks"] or ()
    elif "spec" in document:
        yield document["spec"]


def _conditions(one: Mapping[str, Any]) -> list[dict[str, Any]]:
    return one.get("matchConditions") or []


def _is_pause(condition: Mapping[str, Any]) -> bool:
    return condition.get("name") == PAUSED


def _gate_dropped(document: Mapping[str, Any]) -> dict[str, Any] | None:
    variables = document.get("spec", {}).get("variables") or ()
    return next((one for one in variables if one["name"] == GATE_DROPPED), None)

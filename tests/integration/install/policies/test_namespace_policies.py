"""The label that says how strict we are in a namespace, on a real API server: a value that means
nothing would enforce nothing, and is refused where it is written.
"""

from typing import Any

import pytest

from cardquota.quota import NAMESPACE_MODE, NAMESPACE_MODES, QUEUE_NAME
from cardquota_dev.testing import eventually
from integration.asking import MERGE, ApiReply, ask

from ..policy_api import PolicyApi, allowed, apply_policies, refused

pytestmark = [pytest.mark.disruptive, pytest.mark.slow]

NAMESPACES = "/api/v1/namespaces"


def namespace(name: str, mode: str | None) -> dict[str, Any]:
    labels = {} if mode is None else {NAMESPACE_MODE: mode}
    return {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name, "labels": labels}}


def create(api: PolicyApi, name: str, mode: str | None, *, dry: bool = False) -> ApiReply:
    tail = "?dryRun=All" if dry else ""
    return ask(api.plane, "POST", NAMESPACES + tail, namespace(name, mode))


def change(api: PolicyApi, name: str, **metadata: Any) -> ApiReply:
    body = {"metadata": metadata}
    return ask(api.plane, "PATCH", f"{NAMESPACES}/{name}", body, content_type=MERGE)


def label(api: PolicyApi, name: str, mode: str | None) -> ApiReply:
    return change(api, name, labels={NAMESPACE_MODE: mode})


def test_a_value_that_means_nothing_is_refused(api: PolicyApi, unique: str) -> None:
    for value in ("enforce", "on", "Enforced"):
        refused(
            create(api, unique, value, dry=True),
            "namespaces",
            f"namespace <{unique}>: the label {NAMESPACE_MODE} is <{value}>, which is unknown; "
            "write enforced, audit or off, or leave it out",
        )
    for mode in (*NAMESPACE_MODES, "", None):
        allowed(create(api, unique, mode, dry=True))


def test_when_it_is_changed_too(api: PolicyApi, unique: str) -> None:
    allowed(create(api, unique, "audit"))
    for value in ("enforce", "Audit"):
        refused(label(api, unique, value), "namespaces")
    for mode in ("enforced", "off", "", None):
        allowed(label(api, unique, mode))


def test_who_changes_something_else_is_admitted(api: PolicyApi, unique: str) -> None:
    """A label that was there before us is no reason to refuse the writes of others."""
    allowed(api.kubectl("delete", "validatingadmissionpolicybinding", "cardquota-namespaces"))
    eventually(lambda: create(api, unique, "enforce", dry=True).ok)
    allowed(create(api, unique, "enforce"))
    apply_policies(api)
    eventually(lambda: not create(api, f"{unique}-2", "enforce", dry=True).ok)
    allowed(change(api, unique, labels={"other": "value"}))
    allowed(change(api, unique, annotations={QUEUE_NAME: "q"}))
    refused(label(api, unique, "enforcing"), "namespaces")
    allowed(label(api, unique, "enforced"))


def test_not_through_subresources_either(api: PolicyApi, unique: str) -> None:
    allowed(create(api, unique, None))
    for sub in ("status", "finalize"):
        body = {**namespace(unique, "enforce"), "spec": {"finalizers": ["kubernetes"]}}
        reply = ask(api.plane, "PUT", f"{NAMESPACES}/{unique}/{sub}", body)
        refused(reply, "namespaces")


def test_exempt_namespaces_are_left_alone(api: PolicyApi) -> None:
    allowed(label(api, "kube-system", "enforce"))
    allowed(label(api, "kube-system", None))

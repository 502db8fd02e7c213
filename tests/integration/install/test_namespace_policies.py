"""The label that says how strict we are in a namespace, on a real API server: a value that means
nothing would enforce nothing, and is refused where it is written.
"""

from typing import Any

import pytest

from cardquota.quota.vocabulary import NAMESPACE_MODE, NAMESPACE_MODES, QUEUE_NAME
from cardquota_dev.testing import eventually
from integration.asking import MERGE, ask

from .answer import Answer, from_reply
from .stage import Stage, allowed, apply_policies, refused

pytestmark = [pytest.mark.disruptive, pytest.mark.slow]

NAMESPACES = "/api/v1/namespaces"


def namespace(name: str, mode: str | None) -> dict[str, Any]:
    labels = {} if mode is None else {NAMESPACE_MODE: mode}
    return {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name, "labels": labels}}


def create(stage: Stage, name: str, mode: str | None, *, dry: bool = False) -> Answer:
    tail = "?dryRun=All" if dry else ""
    return from_reply(ask(stage.plane, "POST", NAMESPACES + tail, namespace(name, mode)))


def change(stage: Stage, name: str, **metadata: Any) -> Answer:
    body = {"metadata": metadata}
    return from_reply(ask(stage.plane, "PATCH", f"{NAMESPACES}/{name}", body, content_type=MERGE))


def label(stage: Stage, name: str, mode: str | None) -> Answer:
    return change(stage, name, labels={NAMESPACE_MODE: mode})


def test_a_value_that_means_nothing_is_refused(stage: Stage, unique: str) -> None:
    for value in ("enforce", "on", "Enforced"):
        refused(
            create(stage, unique, value, dry=True),
            "namespaces",
            f"namespace <{unique}>: the label {NAMESPACE_MODE} is <{value}>, which means nothing; "
            "write enforced, audit or off, or leave it out",
        )
    for mode in (*NAMESPACE_MODES, "", None):
        allowed(create(stage, unique, mode, dry=True))


def test_when_it_is_changed_too(stage: Stage, unique: str) -> None:
    allowed(create(stage, unique, "audit"))
    for value in ("enforce", "Audit"):
        refused(label(stage, unique, value), "namespaces")
    for mode in ("enforced", "off", "", None):
        allowed(label(stage, unique, mode))


def test_who_changes_something_else_is_let_by(stage: Stage, unique: str) -> None:
    """A label that was there before us is no reason to refuse the writes of others."""
    allowed(stage.kubectl("delete", "validatingadmissionpolicybinding", "cardquota-namespaces"))
    eventually(lambda: create(stage, unique, "enforce", dry=True).ok)
    allowed(create(stage, unique, "enforce"))
    apply_policies(stage)
    eventually(lambda: not create(stage, f"{unique}-2", "enforce", dry=True).ok)
    allowed(change(stage, unique, labels={"other": "value"}))
    allowed(change(stage, unique, annotations={QUEUE_NAME: "q"}))
    refused(label(stage, unique, "enforcing"), "namespaces")
    allowed(label(stage, unique, "enforced"))


def test_not_through_subresources_either(stage: Stage, unique: str) -> None:
    allowed(create(stage, unique, None))
    for sub in ("status", "finalize"):
        body = {**namespace(unique, "enforce"), "spec": {"finalizers": ["kubernetes"]}}
        reply = from_reply(ask(stage.plane, "PUT", f"{NAMESPACES}/{unique}/{sub}", body))
        refused(reply, "namespaces")


def test_exempt_namespaces_are_left_alone(stage: Stage) -> None:
    allowed(label(stage, "kube-system", "enforce"))
    allowed(label(stage, "kube-system", None))

"""The webhook configurations: what the API server asks us, and what it does without us.

Guarantees: pods that do not use cards never reach us (match conditions and namespace selectors).
The exception are pods in namespaces labelled `enforced` that ask for another device, which a
DeviceClass may provide. If we cannot be reached, only creates of pods that would reach us and
writes of Queues are refused; if a policy sets the gate, only writes of Queues; in audit mode
nothing.
The CA bundle is left out: the operator maintains it.
"""

from typing import Any, Final

from ..quota.vocabulary import API_GROUP, CHARGED_QUEUE, STATUS, VERSION
from ..settings import InstallationMode, Settings
from .cel import annotation, any_of, gated, same_but
from .matching import (
    asks_anew,
    claims_devices,
    may_be_refused,
    may_claim_devices,
    no_controller,
    no_mirror_pod,
    ours,
)
from .namespaces import enforced, opted_in, watched
from .policies.gate_setting import gate_is_set_by_policy

MUTATE: Final = "/mutate"
VALIDATE: Final = "/validate"
SUFFIX: Final = "cardquota.volcano.sh"
_PORT: Final = 443

_NOT_BEING_DELETED: Final = "!has(object.metadata.deletionTimestamp)"
_SPEC_CHANGED: Final = "request.operation == 'CREATE' || object.spec != oldObject.spec"

_WORKLOADS: Final = (
    # API group, resource, path of the pod template, whether other controllers create it
    ("apps", "deployments", "object.spec.template", False),
    ("apps", "statefulsets", "object.spec.template", False),
    ("apps", "daemonsets", "object.spec.template", False),
    ("apps", "replicasets", "object.spec.template", True),
    ("batch", "jobs", "object.spec.template", True),
    ("batch", "cronjobs", "object.spec.jobTemplate.spec.template", False),
)


def mutating(settings: Settings) -> dict[str, Any]:
    """The MutatingWebhookConfiguration: it sets the gate of every pod that must wait.

    It also removes a gate that would never open, so pods that have one reach us too. In namespaces
    labelled `enforced` it is called for every possible card, also by a resource name of no vendor
    row: a pod that is refused there without a gate must be able to get one.
    """
    pods = _webhook(
        "pods",
        settings,
        path=MUTATE,
        rule=_rule("", "v1", "pods", ["CREATE"], "Namespaced"),
        conditions={
            "not-a-mirror-pod": no_mirror_pod(),
            "ours-or-gated": any_of(gated("object"), ours("object", settings)),
        },
        fail=True,
        namespaces=watched(settings),
    )
    webhooks = [pods, _classes(settings, MUTATE)]
    for webhook in webhooks:
        webhook["reinvocationPolicy"] = "IfNeeded"
    return _configuration("MutatingWebhookConfiguration", settings, webhooks)


def validating(settings: Settings) -> dict[str, Any]:
    """The ValidatingWebhookConfiguration: pods, Queues, PodGroups, and warnings for workloads."""
    return _configuration(
        "ValidatingWebhookConfiguration",
        settings,
        [
            _pods(settings),
            _claims(settings),
            _classes(settings, VALIDATE),
            _resizes(settings),
            _queues(settings),
            _pod_groups(settings),
            *(_workload(settings, *row) for row in _WORKLOADS),
        ],
    )


def _pods(settings: Settings) -> dict[str, Any]:
    return _webhook(
        "pods",
        settings,
        path=VALIDATE,
        rule=_rule("", "v1", "pods", ["CREATE"], "Namespaced"),
        conditions={"not-a-mirror-pod": no_mirror_pod(), "ours": ours("object", settings)},
        fail=_pods_fail(settings),
        namespaces=watched(settings),
    )


def _pods_fail(settings: Settings) -> bool:
    """Whether pods are refused while we do not answer: not if they wait at the gate anyway."""
    return not gate_is_set_by_policy(settings)


def _claims(settings: Settings) -> dict[str, Any]:
    """Pods whose devices cannot be counted by name, where the namespace requests all rules (P7).

    Separate from the other pods because only such namespaces refuse them, and a match condition
    cannot see the namespace.
    """
    return _webhook(
        "claims",
        settings,
        path=VALIDATE,
        rule=_rule("", "v1", "pods", ["CREATE"], "Namespaced"),
        conditions={
            "claims-devices": claims_devices("object"),
            "not-a-mirror-pod": no_mirror_pod(),
            "not-seen-already": f"!({ours('object', settings)})",
        },
        fail=_pods_fail(settings),
        namespaces=opted_in(settings),
    )


def _classes(settings: Settings, path: str) -> dict[str, Any]:
    """Pods that ask for a resource that a DeviceClass may provide, where that is refused (P7); or
    for a card of no vendor row, if the namespace or the settings have a queue.

    Only the operator knows which it is. So here all pods with any such resource are reviewed.
    """
    seen = any_of(ours("object", settings), claims_devices("object"))
    return _webhook(
        "classes",
        settings,
        path=path,
        rule=_rule("", "v1", "pods", ["CREATE"], "Namespaced"),
        conditions={
            "may-claim-devices": may_claim_devices("object"),
            "not-a-mirror-pod": no_mirror_pod(),
            "not-seen-already": f"!({seen})",
        },
        fail=_pods_fail(settings),
        namespaces=enforced(settings),
    )


def _resizes(settings: Settings) -> dict[str, Any]:
    """Cpu and memory that are changed in place (P6).

    They take effect at once, without a gate, so this fails closed, like creates. A pod that is
    charged to a queue may not be `ours` by its own text: it asks for a card of no vendor row, and
    its namespace has the queue.
    """
    return _webhook(
        "resizes",
        settings,
        path=VALIDATE,
        rule=_rule("", "v1", "pods/resize", ["UPDATE"], "Namespaced"),
        conditions={
            "ours-or-charged": any_of(
                f"{annotation('object', CHARGED_QUEUE)} != ''", ours("object", settings)
            )
        },
        fail=True,
        namespaces=watched(settings),
    )


def _queues(settings: Settings) -> dict[str, Any]:
    annotations = "metadata.?annotations.orValue({})"
    unchanged = same_but(f"object.{annotations}", f"oldObject.{annotations}", [STATUS])
    changed = (
        f"request.operation != 'UPDATE'\n|| object.?spec != oldObject.?spec\n|| !({unchanged})"
    )
    return _webhook(
        "queues",
        settings,
        path=VALIDATE,
        rule=_rule(API_GROUP, VERSION, "queues", ["CREATE", "UPDATE", "DELETE"], "Cluster"),
        # Beside Volcano, an annotation holds the numbers that we publish. Those writes, and writes
        # of status and finalizers, need no review.
        conditions={"spec-or-annotations-changed": changed},
        fail=True,
    )


def _pod_groups(settings: Settings) -> dict[str, Any]:
    """What groups ask for. Fails open: their pods are reviewed, and wait at their gates."""
    return _webhook(
        "podgroups",
        settings,
        path=VALIDATE,
        rule=_rule(API_GROUP, VERSION, "podgroups", ["CREATE", "UPDATE"], "Namespaced"),
        conditions={
            "not-being-deleted": _NOT_BEING_DELETED,
            "asks-anew": asks_anew(),
            "may-be-refused": may_be_refused(),
        },
        fail=False,
        namespaces=watched(settings),
    )


def _workload(
    settings: Settings, group: str, resource: str, template: str, often_owned: bool
) -> dict[str, Any]:
    conditions = {
        "not-being-deleted": _NOT_BEING_DELETED,
        "spec-changed": _SPEC_CHANGED,
        "pods-are-ours": ours(template, settings),
    }
    if often_owned:
        # Its owner has already been reviewed.
        conditions = {"no-controller": no_controller(), **conditions}
    return _webhook(
        resource,
        settings,
        path=VALIDATE,
        rule=_rule(group, "v1", resource, ["CREATE", "UPDATE"], "Namespaced"),
        conditions=conditions,
        fail=False,  # warnings only: never worth a refusal
        namespaces=watched(settings),
    )


def _configuration(kind: str, settings: Settings, webhooks: list[dict[str, Any]]) -> dict[str, Any]:
    return {
        "apiVersion": "admissionregistration.k8s.io/v1",
        "kind": kind,
        "metadata": {
            "name": settings.webhook.name,
            "labels": {"app.kubernetes.io/name": "cardquota"},
        },
        "webhooks": webhooks,
    }


def _rule(
    group: str, version: str, resource: str, operations: list[str], scope: str
) -> dict[str, Any]:
    return {
        "apiGroups": [group],
        "apiVersions": [version],
        "resources": [resource],
        "operations": operations,
        "scope": scope,
    }


def _webhook(
    what: str,
    settings: Settings,
    *,
    path: str,
    rule: dict[str, Any],
    conditions: dict[str, str],
    fail: bool,
    namespaces: dict[str, Any] | None = None,
) -> dict[str, Any]:
    enforced = settings.mode is InstallationMode.ENFORCE
    webhook: dict[str, Any] = {
        "name": f"{what}.{SUFFIX}",
        "admissionReviewVersions": ["v1"],
        "sideEffects": "None",
        "matchPolicy": "Equivalent",
        "failurePolicy": "Fail" if fail and enforced else "Ignore",
        "timeoutSeconds": settings.webhook.timeout_seconds,
        "clientConfig": _client(settings, path),
        "rules": [rule],
    }
    if namespaces:
        webhook["namespaceSelector"] = namespaces
    webhook["matchConditions"] = [
        {"name": name, "expression": expression} for name, expression in conditions.items()
    ]
    return webhook


def _client(settings: Settings, path: str) -> dict[str, Any]:
    if settings.webhook.url:
        return {"url": settings.webhook.url + path}
    return {
        "service": {
            "name": settings.webhook.service,
            "namespace": settings.namespace,
            "path": path,
            "port": _PORT,
        }
    }

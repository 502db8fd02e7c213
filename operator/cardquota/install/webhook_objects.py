"""The webhook configurations: what the API server asks us, and what it does without us.

Guarantees: pods that do not use cards never reach us (match conditions and selectors). The
exceptions are pods in namespaces labelled `enforced` that ask for another device, which a
DeviceClass may provide, and those that somebody marks by hand with our label. If we cannot be
reached, only creates of pods that would reach us and writes of Queues are refused; if a policy sets
the gate, only writes of Queues; in audit mode nothing.
CA bundle and path are left out: the operator maintains them (N1).
"""

from typing import Any, Final

from ..quota.vocabulary import (
    API_GROUP,
    CHARGED_QUEUE,
    IS_MANAGED,
    MANAGED,
    NAMESPACE_AUDIT,
    NAMESPACE_ENFORCED,
    OURS_ON_GROUPS,
    QUEUE_REVIEWS,
    REVIEW_GROUP,
    REVIEW_VERSION,
    STATUS,
    VERSION,
    WORKLOAD_REVIEWS,
)
from ..settings import InstallationMode, Settings
from .cel import all_of, annotation, any_of, carries, gated, literal, literals, same_but, user_is
from .matching import (
    ASKS_ANEW,
    MARKED,
    MIRROR_POD,
    NO_CONTROLLER,
    NO_GROUP_OF_VOLCANOS,
    labelled,
    ours,
    ours_or_claims,
    ours_or_may_claim,
    unlabelled,
    watched,
)
from .policies.binding_policies import repeats_notes
from .policies.gate_policies import gate_is_set_by_policy
from .policies.key_policies import by_volcano, group_given, written_at_release

MUTATE: Final = "/mutate"
"""Paths that the API server calls, without their secret."""
OBSERVE: Final = "/observe"
"""The path of what is refused by others than us."""
VALIDATE: Final = "/validate"
REVIEWS: Final = "-reviews"
"""How the name of the configuration of questions ends."""
REFUSED: Final = "-refused"
"""How the name of that ends which counts what is refused to others than us."""
SUFFIX: Final = "cardquota.volcano.sh"
ENFORCED: Final = "pods-enforced"
_PORT: Final = 443

_MARKED: Final = {"matchExpressions": [{"key": MANAGED, "operator": "In", "values": [IS_MANAGED]}]}

_OBSERVED_WITHIN: Final = 2
"""Seconds that the API server waits for an answer that decides nothing."""
_NOT_BEING_DELETED: Final = "!has(object.metadata.deletionTimestamp)"
_SPEC_CHANGED: Final = "request.operation == 'CREATE' || object.spec != oldObject.spec"

WORKLOADS: Final = (
    ("apps", "deployments", "object.spec.template", False),
    ("apps", "statefulsets", "object.spec.template", False),
    ("apps", "daemonsets", "object.spec.template", False),
    ("apps", "replicasets", "object.spec.template", True),
    ("batch", "jobs", "object.spec.template", True),
    ("batch", "cronjobs", "object.spec.jobTemplate.spec.template", False),
)
"""Those that get warnings: API group, resource, path of the pod template, whether other controllers
create it."""


def mutating(settings: Settings) -> dict[str, Any]:
    """The MutatingWebhookConfiguration of pods: it sets the gate of every pod that must wait.

    It also removes a gate that would never open, our label where it means nothing, and annotations
    of ours that come from a backup: so pods that have these reach us too. In namespaces labelled
    `enforced` it is called for every possible card, also by a resource name of no vendor row, and
    for devices (P7); in namespaces labelled `audit` for those that the pod claims in its own text.
    """
    left_over = [gated("object"), MARKED, carries("object", written_at_release(settings))]
    webhooks = [
        _pods(settings, what, namespaces, any_of(*left_over, which))
        for what, namespaces, which in _reviewed(settings)
    ]
    for webhook in webhooks:
        # Whoever changes the pod after us may change the answer.
        webhook["reinvocationPolicy"] = "IfNeeded"
    return _configuration("MutatingWebhookConfiguration", settings, webhooks)


def _reviewed(settings: Settings) -> list[tuple[str, dict[str, Any], str]]:
    """Which pods are reviewed when they are created, by the label of their namespace: the name of
    the webhook, the namespaces, and the condition.
    """
    enforced, audited = (labelled(settings, it) for it in (NAMESPACE_ENFORCED, NAMESPACE_AUDIT))
    everywhere = unlabelled(settings)
    return [
        *([("pods", everywhere, ours("object", settings))] if everywhere else ()),
        (ENFORCED, enforced, ours_or_may_claim("object", settings)),
        ("pods-audited", audited, ours_or_claims("object", settings)),
    ]


def mutating_scales(settings: Settings) -> dict[str, Any]:
    """The MutatingWebhookConfiguration of scale-ups: it cuts what autoscalers ask for; and of pod
    groups with keys of ours. One of its own, since that of pods is not there if a policy sets the
    gate.
    """
    webhooks = [_scales(settings, of_autoscalers=True), _keys_of_groups(settings)]
    return _configuration("MutatingWebhookConfiguration", settings, webhooks, "-scales")


def mutating_reviews(settings: Settings) -> dict[str, Any]:
    """The MutatingWebhookConfiguration of questions: we add the answer to what nobody stores. What
    we have not answered the definition refuses, unless its sender has written an answer: so they
    fail closed, in audit mode too. One of its own, since that of pods is not there if a policy sets
    the gate.
    """
    webhooks = [
        _webhook(
            name,
            settings,
            rule=_rule(REVIEW_GROUP, REVIEW_VERSION, resource, ["CREATE"], scope),
            conditions={},
            fail=True,
            fail_in_audit=True,  # nobody's pods depend on it
        )
        for name, resource, scope in (
            ("queue-reviews", QUEUE_REVIEWS, "Cluster"),
            ("workload-reviews", WORKLOAD_REVIEWS, "Namespaced"),
        )
    ]
    return _configuration("MutatingWebhookConfiguration", settings, webhooks, REVIEWS)


def mutating_refused(settings: Settings) -> dict[str, Any]:
    """The MutatingWebhookConfiguration that changes nothing: it counts what the policies refuse
    to all but Volcano. The API server asks it before it asks them. Without an answer nothing waits
    for long, and nothing is refused.

    Only beside Volcano: elsewhere nobody binds pods with their annotations.
    """
    stranger = f"!({any_of(by_volcano(settings), user_is(settings.service_account_user))})"
    # In namespaces in audit mode what users write is free; nobody need know of the rest.
    where = watched(settings, NAMESPACE_AUDIT)
    webhooks = [
        _webhook(
            "bindings",
            settings,
            rule=_rule("", "v1", "pods/binding", ["CREATE"], "Namespaced", "bindings"),
            conditions={"notes-by-a-stranger": all_of(repeats_notes(settings), stranger)},
            fail=False,
            namespaces=where,
        ),
        _webhook(
            "groups",
            settings,
            rule=_rule("", "v1", "pods", ["UPDATE"], "Namespaced"),
            conditions={"group-by-a-stranger": all_of(group_given(), stranger)},
            fail=False,
            namespaces=where,
        ),
    ]
    for webhook in webhooks:
        webhook["timeoutSeconds"] = _OBSERVED_WITHIN
    return _configuration("MutatingWebhookConfiguration", settings, webhooks, REFUSED)


def validating_volcano_jobs(settings: Settings) -> dict[str, Any]:
    """The ValidatingWebhookConfiguration of Volcano's Jobs: refusals of what could never run.
    One of its own, since it is there only beside Volcano. It fails open: their pods wait
    at their gates, or are refused one by one.

    No owner is left out: Volcano makes no Jobs from Jobs, and whoever does is to be told as well.
    """
    webhook = _webhook(
        "volcano-jobs",
        settings,
        rule=_rule("batch.volcano.sh", "v1alpha1", "jobs", ["CREATE"], "Namespaced"),
        conditions={},
        fail=False,
        namespaces=watched(settings),
    )
    return _configuration("ValidatingWebhookConfiguration", settings, [webhook], "-volcano-jobs")


def validating(settings: Settings) -> dict[str, Any]:
    """The ValidatingWebhookConfiguration: Queues, PodGroups, scale-ups, and warnings for workloads;
    and pods, if a policy sets their gate.
    """
    return _configuration(
        "ValidatingWebhookConfiguration",
        settings,
        [
            *(_validated_pods(settings) if gate_is_set_by_policy(settings) else ()),
            _resizes(settings),
            _queues(settings),
            _pod_groups(settings),
            *(_workload(settings, *row) for row in WORKLOADS),
            _scales(settings, of_autoscalers=False),
        ],
    )


def _validated_pods(settings: Settings) -> list[dict[str, Any]]:
    """The one review of pods that no webhook of ours changes.

    In namespaces without a label these are the pods that the policy has marked. The mark is found
    before anything is evaluated: for all other pods of the cluster it costs next to nothing. In
    audit mode nothing is gated, and nothing marked. In namespaces labelled `enforced` the mark says
    nothing: it is not written on pods that the policy does not know.
    """
    found = [_pods(settings, *one) for one in _reviewed(settings)]
    if settings.mode is InstallationMode.ENFORCE and unlabelled(settings):
        del found[0]["matchConditions"]
        found[0]["objectSelector"] = _MARKED
    return found


def _pods(settings: Settings, what: str, namespaces: dict[str, Any], which: str) -> dict[str, Any]:
    """Creates of pods. One condition, since the API server evaluates all that there are; it asks
    for what is rare first.
    """
    return _webhook(
        what,
        settings,
        rule=_rule("", "v1", "pods", ["CREATE"], "Namespaced"),
        conditions={"may-be-ours": all_of(which, f"!({MIRROR_POD})")},
        # Where a policy sets the gate, pods wait at it while we do not answer.
        fail=not gate_is_set_by_policy(settings),
        namespaces=namespaces,
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
        rule=_rule(API_GROUP, VERSION, "queues", ["CREATE", "UPDATE", "DELETE"], "Cluster"),
        # Beside Volcano, an annotation holds the numbers that we publish. Those writes, and writes
        # of status and finalizers, need no review.
        conditions={"spec-or-annotations-changed": changed},
        fail=True,
    )


def _pod_groups(settings: Settings) -> dict[str, Any]:
    """What groups ask for. Fails open: their pods are reviewed, and wait at their gates. Groups of
    other controllers than Volcano's reach us, to be told what is wrong: most controllers log it.
    """
    return _webhook(
        "podgroups",
        settings,
        rule=_rule(API_GROUP, VERSION, "podgroups", ["CREATE", "UPDATE"], "Namespaced"),
        conditions={
            "not-being-deleted": _NOT_BEING_DELETED,
            "asks-anew": ASKS_ANEW,
            "no-group-of-volcanos": NO_GROUP_OF_VOLCANOS,
        },
        fail=False,
        namespaces=watched(settings),
    )


def _keys_of_groups(settings: Settings) -> dict[str, Any]:
    """Our keys on a group that somebody else creates, or replaces without them. Without an answer
    a policy refuses the write.
    """
    old = "oldObject.?metadata.?annotations.orValue({})"
    new = "object.?metadata.?annotations.orValue({})"
    left_out = any_of(
        *(f"{literal(k)} in {old} && !({literal(k)} in {new})" for k in OURS_ON_GROUPS)
    )
    forged = f"request.operation == 'CREATE' && {carries('object', OURS_ON_GROUPS)}"
    return _webhook(
        "podgroup-keys",
        settings,
        rule=_rule(API_GROUP, VERSION, "podgroups", ["CREATE", "UPDATE"], "Namespaced"),
        conditions={
            "keys-of-ours": any_of(forged, f"request.operation == 'UPDATE' && ({left_out})"),
            "not-by-us": f"!({user_is(settings.service_account_user)})",
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
        conditions = {"no-controller": NO_CONTROLLER, **conditions}
    return _webhook(
        resource,
        settings,
        rule=_rule(group, "v1", resource, ["CREATE", "UPDATE"], "Namespaced"),
        conditions=conditions,
        fail=False,  # warnings only: never worth a refusal
        namespaces=watched(settings),
    )


def _scales(settings: Settings, *, of_autoscalers: bool) -> dict[str, Any]:
    """Scale-ups of any kind: one review each. Autoscalers may be granted a part, for which the
    number has to be changed; all others are answered yes or no.

    It fails open: every pod gets its own answer. A Scale says nothing of the pods, so all scale-ups
    are asked about; what has no cards is answered at once.
    """
    by = f"request.userInfo.username in {literals(settings.scale.autoscalers)}"
    webhook = _webhook(
        "scales-by-autoscalers" if of_autoscalers else "scales",
        settings,
        rule=_rule("*", "*", "*/scale", ["UPDATE"], "Namespaced"),
        conditions={
            "more-replicas": (
                "object.?spec.?replicas.orValue(0) > oldObject.?spec.?replicas.orValue(0)"
            ),
            "by-whom": by if of_autoscalers else f"!({by})",
        },
        fail=False,
        namespaces=watched(settings),
    )
    # An event says that a part was granted; a dry run writes none.
    webhook["sideEffects"] = "NoneOnDryRun" if of_autoscalers else "None"
    return webhook


def _configuration(
    kind: str, settings: Settings, webhooks: list[dict[str, Any]], suffix: str = ""
) -> dict[str, Any]:
    return {
        "apiVersion": "admissionregistration.k8s.io/v1",
        "kind": kind,
        "metadata": {
            "name": f"{settings.webhook.name}{suffix}",
            "labels": {"app.kubernetes.io/name": "cardquota"},
        },
        "webhooks": webhooks,
    }


def _rule(
    group: str, version: str, resource: str, operations: list[str], scope: str, *others: str
) -> dict[str, Any]:
    return {
        "apiGroups": [group],
        "apiVersions": [version],
        "resources": [resource, *others],
        "operations": operations,
        "scope": scope,
    }


def _webhook(
    what: str,
    settings: Settings,
    *,
    rule: dict[str, Any],
    conditions: dict[str, str],
    fail: bool,
    fail_in_audit: bool = False,
    namespaces: dict[str, Any] | None = None,
) -> dict[str, Any]:
    enforced = settings.mode is InstallationMode.ENFORCE
    webhook: dict[str, Any] = {
        "name": f"{what}.{SUFFIX}",
        "admissionReviewVersions": ["v1"],
        "sideEffects": "None",
        "matchPolicy": "Equivalent",
        "failurePolicy": "Fail" if fail and (enforced or fail_in_audit) else "Ignore",
        "timeoutSeconds": settings.webhook.timeout_seconds,
        "clientConfig": _client(settings),
        "rules": [rule],
    }
    if namespaces:
        webhook["namespaceSelector"] = namespaces
    if conditions:
        webhook["matchConditions"] = [
            {"name": name, "expression": expression} for name, expression in conditions.items()
        ]
    return webhook


def _client(settings: Settings) -> dict[str, Any]:
    """Without a path: whoever applies this again leaves the path as it is stored."""
    if settings.webhook.url:
        return {"url": settings.webhook.url}
    return {
        "service": {
            "name": settings.webhook.service,
            "namespace": settings.namespace,
            "port": _PORT,
        }
    }

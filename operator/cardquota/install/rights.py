"""What the operator's service account must be allowed to do, right by right.

The roles in `manifests` are written by hand and not part of the wheel. A test holds them equal to
this: each right is granted by a rule, and no rule grants anything else. Pure.
"""

from collections.abc import Iterable, Iterator
from typing import Final, NamedTuple

from ..quota.vocabulary import API_GROUP, AUDIT_RECORD, LEASE, REVIEW_GROUP, TERMS, ReclaimMode
from ..settings import Settings
from .manifests import documents, plural

_ADMISSION: Final = "admissionregistration.k8s.io"
_DEFINITIONS: Final = "apiextensions.k8s.io"
_WEBHOOKS: Final = "WebhookConfiguration"
_UNHEALTHY_CARDS: Final = "kube-system"
_WATCHED: Final = (
    ("", "pods"),
    ("", "nodes"),
    ("", "namespaces"),
    ("", "limitranges"),
    (API_GROUP, "queues"),
    (API_GROUP, "podgroups"),
    ("scheduling.k8s.io", "priorityclasses"),
    ("node.k8s.io", "runtimeclasses"),
    ("apps", "deployments"),
    ("apps", "statefulsets"),
    ("apps", "replicasets"),
    ("apps", "daemonsets"),
    ("batch", "jobs"),
    ("resource.k8s.io", "deviceclasses"),
)
_WRITTEN: Final = (
    ("apps", "replicasets/status", "patch"),
    ("apps", "statefulsets/status", "patch"),
    ("apps", "daemonsets/status", "patch"),
    ("batch", "jobs/status", "patch"),
    (API_GROUP, "queues", "get"),
    ("", "pods", "get patch"),
    (API_GROUP, "podgroups", "get patch"),
    (API_GROUP, "queues/status", "patch"),
    ("", "events", "create patch"),
    ("resource.k8s.io", "resourceclaims", "get"),
    ("resource.k8s.io", "resourceclaimtemplates", "get"),
)


class Right(NamedTuple):
    """One verb on one resource. Empty: of all names, in all namespaces."""

    verb: str
    group: str
    resource: str
    """With its subresource: `queues/status`."""
    name: str = ""
    namespace: str = ""


def rights(settings: Settings) -> list[Right]:
    """All that an operator with these settings needs, some eighty."""
    found = [
        *(Right(verb, *watched) for watched in _WATCHED for verb in ("list", "watch")),
        *(Right(verb, group, name) for group, name, verbs in _WRITTEN for verb in verbs.split()),
        Right("list", _DEFINITIONS, "customresourcedefinitions", f"queues.{API_GROUP}"),
        *_of_the_installation(settings),
        *_in_its_namespace(settings),
        *_beside_others(settings),
    ]
    return list(dict.fromkeys(found))


def in_words(found: Iterable[Right]) -> list[str]:
    """For people, by what they are about: `get and patch pods`."""
    verbs: dict[str, list[str]] = {}
    for right in found:
        resource = f"{right.resource}.{right.group}" if right.group else right.resource
        name = f" <{right.name}>" if right.name else ""
        where = f" in {right.namespace}" if right.namespace else ""
        verbs.setdefault(f"{resource}{name}{where}", []).append(right.verb)
    several = {
        what: filter(None, (", ".join(named[:-1]), named[-1])) for what, named in verbs.items()
    }
    return [f"{' and '.join(parts)} {what}" for what, parts in several.items()]


def _of_the_installation(settings: Settings) -> Iterator[Right]:
    """It reads policies, and writes CA bundles."""
    for document in documents(settings):
        kind, name = document["kind"], document["metadata"]["name"]
        for verb in ("get", "patch") if kind.endswith(_WEBHOOKS) else ("get",):
            yield Right(verb, _ADMISSION, plural(kind), name)


def _in_its_namespace(settings: Settings) -> Iterator[Right]:
    def right(verb: str, group: str, resource: str, name: str = "") -> Right:
        return Right(verb, group, resource, name, settings.namespace)

    yield right("create", "coordination.k8s.io", "leases")
    for verb in ("get", "patch", "watch"):
        yield right(verb, "coordination.k8s.io", "leases", LEASE)
    yield right("create", REVIEW_GROUP, TERMS)
    for verb in ("get", "patch"):
        yield right(verb, REVIEW_GROUP, TERMS, LEASE)
    yield right("create", "", "configmaps")
    for verb in ("get", "patch"):
        yield right(verb, "", "configmaps", AUDIT_RECORD)
    yield right("create", API_GROUP, "podgroups")
    yield right("get", "", "namespaces", settings.namespace)
    yield from _of_secret(settings, settings.webhook.secret, settings.webhook.certificates)
    if settings.extender.enabled:
        for secret in (settings.extender.secret, settings.extender.client_secret):
            yield from _of_secret(settings, secret, settings.extender.certificates)


def _of_secret(settings: Settings, name: str, keeper: str) -> Iterator[Right]:
    """A Secret that somebody else keeps is only read."""
    yield Right("get", "", "secrets", name, settings.namespace)
    if keeper == "own":
        yield Right("create", "", "secrets", "", settings.namespace)
        yield Right("patch", "", "secrets", name, settings.namespace)


def _beside_others(settings: Settings) -> Iterator[Right]:
    if settings.metrics.authentication or settings.page.enabled:
        yield Right("create", "authentication.k8s.io", "tokenreviews")
        yield Right("create", "authorization.k8s.io", "subjectaccessreviews")
    if settings.scheduler == "volcano":
        yield Right("patch", API_GROUP, "queues")
        yield Right("get", "batch.volcano.sh", "jobs")
        # Read only where pods are ended for others, by a component that does not know of Volcano.
        namespace, _, name = settings.volcano.configuration.partition("/")
        yield Right("get", "", "configmaps", name, namespace)
    if settings.reclaim.mode is not ReclaimMode.OFF:
        yield Right("create", "", "pods/eviction")
        yield Right("list", "policy", "poddisruptionbudgets")
    if settings.extender.enabled:
        yield Right("create", "", "pods/binding")
        for verb in ("list", "watch"):
            yield Right(verb, "", "configmaps", "", _UNHEALTHY_CARDS)

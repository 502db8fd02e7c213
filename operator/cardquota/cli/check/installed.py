"""Reads what an installation consists of, with the user's own rights."""

import asyncio
import re
import time
from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Final, NamedTuple, TypeVar

import msgspec

from ...cluster.api.api_error import ApiError, OutcomeUnknown
from ...cluster.api.client import Client
from ...cluster.certificates.certificates import from_base64
from ...install.manifests import admission_path, documents
from ...install.policies.admission_policy import PREFIX
from ...install.rights import Right, rights
from ...install.volcano_configuration import configuration_in_words, configuration_path
from ...quota import vocabulary as v
from ...settings import Settings
from ..leader import PATIENCE, Sleep, read_lease, read_leases
from ..reading import Answer, ClusterError, NotRead, inner, not_read, read_object
from ..way_out import DEFINITIONS, TERM_DEFINITION

T = TypeVar("T")
R = TypeVar("R")
_AT_ONCE: Final = 8
"""Requests in flight."""
_REVIEWS: Final = "/apis/authorization.k8s.io/v1/subjectaccessreviews"
_URL: Final = re.compile(r"https://[^/?#]{1,500}")
_ACCOUNT: Final = ["system", "serviceaccount"]
_PARTS: Final = 4
"""Of the user name of a service account."""
_LONGEST_CERTIFICATE: Final = 64 * 1024
"""Characters."""


class CertificateSecret(NamedTuple):
    """A Secret of the operator's namespace with a certificate."""

    name: str
    own: bool
    """Whether the operator keeps it."""


def secrets_with_certificates(settings: Settings) -> list[CertificateSecret]:
    """That of the webhook; with the extender also those of it and of its callers."""
    webhook, extender = settings.webhook, settings.extender
    found = [CertificateSecret(webhook.secret, webhook.certificates == "own")]
    if extender.enabled:
        own = extender.certificates == "own"
        names = (extender.secret, extender.client_secret)
        found += [CertificateSecret(name, own) for name in names]
    return found


def decoded(text: object, longest: int) -> bytes:
    """What stands in a field in base64; empty if nothing readable does."""
    return from_base64(text) if isinstance(text, str) and len(text) <= longest else b""


@dataclass(frozen=True, slots=True, kw_only=True)
class Installed:
    """What is there, and what is not."""

    version: Answer = None
    """What the API server says of its version."""
    definitions: Mapping[str, Answer] = field(default_factory=dict)
    """By name."""
    admission: tuple[tuple[Mapping[str, Any], Answer], ...] = ()
    """Each rendered webhook configuration, policy and binding, and what is there instead."""
    url: str = ""
    """Where webhooks call an operator outside the cluster, if the settings do not say it."""
    leases: tuple[Answer, ...] = (None,)
    """The Lease; twice if the first one did not show that somebody leads."""
    term: Answer = None
    term_lease: Answer = None
    """The Lease as it was read with the Term."""
    deployment: Answer = None
    certificates: Mapping[str, bytes | NotRead | None] = field(default_factory=dict)
    """By name of the Secret: the certificate in it, PEM. None: there is no Secret."""
    volcano_scheduler: Answer = None
    """The ConfigMap with the configuration of Volcano's scheduler, beside Volcano."""
    volcano_namespaces: Mapping[str, Answer] = field(default_factory=dict)
    """Those of the accounts that may do what Volcano does."""
    missing_rights: tuple[Right, ...] | NotRead = ()
    """What the operator's account may not do."""


def is_of_fence(name: str) -> bool:
    """Whether a definition, policy or binding of this name belongs to the fence."""
    return name == TERM_DEFINITION or name.removeprefix(PREFIX) in v.TERM_POLICIES


async def read_installed(
    client: Client,
    settings: Settings,
    *,
    clock: Callable[[], float] = time.time,
    sleep: Sleep = asyncio.sleep,
) -> Installed:
    """Some fifty small objects, and as many questions what the operator's account may do; the API
    server stores nothing for either. Errors: ClusterError.
    """
    where = f"/apis/apps/v1/namespaces/{settings.namespace}/deployments/{v.DEPLOYMENT}"
    deployment = await read_object(client, where, "the operator's Deployment")
    url = "" if isinstance(deployment, Mapping) else await _called_by(client, settings)
    if url:
        webhook = settings.webhook.model_copy(update={"url": url})
        settings = settings.model_copy(update={"webhook": webhook})
    wanted = documents(settings)
    secrets = [secret.name for secret in secrets_with_certificates(settings)]
    definitions = await _at_once(partial(_definition, client), DEFINITIONS)
    admission = await _at_once(partial(_admission, client), wanted)
    certificates = await _at_once(partial(_certificate, client, settings.namespace), secrets)
    leases = await read_leases(client, settings.namespace, clock, sleep)
    term, term_lease = await _term(client, settings, sleep)
    return Installed(
        version=await read_object(client, "/version", "the version of Kubernetes"),
        definitions=dict(zip(DEFINITIONS, definitions, strict=True)),
        admission=tuple(zip(wanted, admission, strict=True)),
        url=url,
        leases=leases,
        term=term,
        term_lease=term_lease,
        deployment=deployment,
        certificates=dict(zip(secrets, certificates, strict=True)),
        volcano_namespaces=await _volcano_namespaces(client, settings),
        volcano_scheduler=await _volcano_scheduler(client, settings),
        missing_rights=await _missing_rights(client, settings),
    )


async def _at_once(ask: Callable[[T], Awaitable[R]], about: Iterable[T]) -> list[R]:
    """Some at a time; the answers in their order. Raises the first error alone."""
    limit = asyncio.Semaphore(_AT_ONCE)

    async def one(thing: T) -> R:
        async with limit:
            return await ask(thing)

    try:
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(one(thing)) for thing in about]
    except ExceptionGroup as errors:
        raise errors.exceptions[0] from None
    return [task.result() for task in tasks]


async def _called_by(client: Client, settings: Settings) -> str:
    """The address in the validating webhooks, if they have a URL and the settings have none."""
    if settings.webhook.url is not None:
        return ""
    name = settings.webhook.name
    found = await read_object(
        client,
        f"/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations/{name}",
        f"ValidatingWebhookConfiguration <{name}>",
    )
    webhooks = inner(found, "webhooks")
    first = webhooks[0] if isinstance(webhooks, list) and webhooks else None
    url = inner(first, "clientConfig", "url")
    at = _URL.match(url) if isinstance(url, str) else None
    return at[0] if at is not None else ""


def _definition(client: Client, name: str) -> Awaitable[Answer]:
    path = f"/apis/apiextensions.k8s.io/v1/customresourcedefinitions/{name}"
    return read_object(client, path, f"CustomResourceDefinition <{name}>")


def _admission(client: Client, document: Mapping[str, Any]) -> Awaitable[Answer]:
    what = f"{document['kind']} <{document['metadata']['name']}>"
    return read_object(client, admission_path(document), what)


async def _term(client: Client, settings: Settings, sleep: Sleep) -> tuple[Answer, Answer]:
    """Term and Lease. Read again if they do not agree: a new leader writes one after the other."""
    version = f"{v.REVIEW_GROUP}/{v.REVIEW_VERSION}"
    path = f"/apis/{version}/namespaces/{settings.namespace}/{v.TERMS}/{v.LEASE}"
    for again in (True, False):
        found = await read_object(client, path, "the operator's Term")
        held = await read_lease(client, settings.namespace)
        if inner(found, "spec", "term") == inner(held, "spec", "holderIdentity"):
            break
        if again:
            await sleep(PATIENCE)
    return found, held


async def _certificate(client: Client, namespace: str, name: str) -> bytes | NotRead | None:
    """The certificate alone: the Secret's key is dropped at once."""
    path = f"/api/v1/namespaces/{namespace}/secrets/{name}"
    found = await read_object(client, path, f"Secret <{namespace}/{name}>")
    if found is None or isinstance(found, NotRead):
        return found
    return decoded(inner(found, "data", "tls.crt"), _LONGEST_CERTIFICATE)


async def _volcano_scheduler(client: Client, settings: Settings) -> Answer:
    if settings.scheduler != "volcano":
        return None
    path = configuration_path(settings)
    return await read_object(client, path, configuration_in_words(settings))


async def _volcano_namespaces(client: Client, settings: Settings) -> dict[str, Answer]:
    accounts = (one.split(":") for one in settings.volcano_accounts)
    names = dict.fromkeys(one[2] for one in accounts if one[:2] == _ACCOUNT and len(one) == _PARTS)

    def read(name: str) -> Awaitable[Answer]:
        return read_object(client, f"/api/v1/namespaces/{name}", f"Namespace <{name}>")

    return dict(zip(names, await _at_once(read, names), strict=True))


async def _missing_rights(client: Client, settings: Settings) -> tuple[Right, ...] | NotRead:
    wanted = rights(settings)
    first = await _may(client, settings, wanted[0])
    if isinstance(first, NotRead):
        return first
    others = await _at_once(partial(_may, client, settings), wanted[1:])
    for answer in others:
        if isinstance(answer, NotRead):
            return answer
    answers = [first, *others]
    return tuple(right for right, may in zip(wanted, answers, strict=True) if not may)


async def _may(client: Client, settings: Settings, right: Right) -> bool | NotRead:
    """Whether the operator's account may do it, by whatever roles."""
    namespace = settings.namespace
    resource, _, subresource = right.resource.partition("/")
    body = {
        "apiVersion": "authorization.k8s.io/v1",
        "kind": "SubjectAccessReview",
        "spec": {
            "user": f"system:serviceaccount:{namespace}:{settings.service_account}",
            "groups": [
                "system:serviceaccounts",
                f"system:serviceaccounts:{namespace}",
                "system:authenticated",
            ],
            "resourceAttributes": {
                "verb": right.verb,
                "group": right.group,
                "resource": resource,
                "subresource": subresource,
                "name": right.name,
                "namespace": right.namespace,
            },
        },
    }
    what = "SubjectAccessReviews"
    try:
        found = msgspec.json.decode(await client.post(_REVIEWS, body))
    except ApiError as error:
        if not error.absent:
            raise ClusterError(not_read(what, str(error))) from error
        return NotRead(not_read(what, str(error)))
    except OutcomeUnknown as error:
        raise ClusterError(not_read(what, str(error))) from error
    except msgspec.MsgspecError:
        return NotRead(not_read(what, "no object"))
    return inner(found, "status", "allowed") is True

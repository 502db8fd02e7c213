"""How the API server calls us, in the webhook configurations: our CAs, and the path. We write no
other field.
"""

import base64
import binascii
import logging
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Final
from urllib.parse import urlsplit

import msgspec
from cryptography import x509

from ..api.api_error import ApiError
from ..api.client import JSON_PATCH, Client
from ..api.clock import boottime
from .certificates import read_certificates, to_pem
from .path_secrets import PathSecrets

log = logging.getLogger(__name__)

_GROUP: Final = "/apis/admissionregistration.k8s.io/v1"
_TRIES: Final = 5
_MOVED: Final = frozenset({409, 422})
"""Answers to a JSON patch whose `test` no longer holds."""
_INJECTED: Final = "cert-manager.io/inject-"
"""Annotations with this prefix tell cert-manager's ca-injector to write the field."""
LINGER: Final = 600.0
"""Seconds for which a CA stays in caBundle after it was last wanted. Replicas that serve under it
read the Secret every few seconds; even after a bad minute all of them have."""


class _Service(msgspec.Struct):
    path: str | None = None


class _ClientConfig(msgspec.Struct, rename="camel"):
    ca_bundle: str = ""
    url: str | None = None
    service: _Service | None = None

    @property
    def path(self) -> str:
        """Where we are called, without the host."""
        if self.url is not None:
            return urlsplit(self.url).path
        return (self.service.path if self.service is not None else None) or ""


class _Webhook(msgspec.Struct, rename="camel"):
    name: str
    client_config: _ClientConfig


class _WebhookObjectMeta(msgspec.Struct):
    annotations: dict[str, str] | None = None


class _Configuration(msgspec.Struct):
    metadata: _WebhookObjectMeta
    webhooks: list[_Webhook] | None = None


_decode = msgspec.json.Decoder(_Configuration).decode


class CaBundles:
    """The CAs that the API server trusts when it calls us, and the paths that it calls, in our
    configurations.

    Guarantees: only `clientConfig.caBundle` is written, and only if it is not right already and no
    annotation leaves it to cert-manager; and the path, of the Service or of the URL. A webhook that
    is renamed or moved meanwhile does not get them by mistake. A valid CA that is no longer wanted
    stays until it was seen unwanted for `linger` seconds. So replicas that know different CAs for a
    moment, or one that has just started, remove nothing that others need.
    """

    def __init__(
        self,
        client: Client,
        paths: Mapping[str, str],
        secrets: PathSecrets,
        *,
        clock: Callable[[], float] = boottime,
        linger: float = LINGER,
    ) -> None:
        """`paths`: of the configurations, as `KINDS/NAME`, without their `secrets`. `clock` and
        `linger`: seconds.
        """
        self._client = client
        self._paths = paths
        self._secrets = secrets
        self._clock = clock
        self._linger = linger
        self._trusted: dict[x509.Certificate, float] = {}
        """Since when all webhooks trust it."""
        self._unwanted: dict[x509.Certificate, float] = {}
        """Since when it was seen unwanted."""
        self.missing: list[str] = []
        """Configurations that were missing at the last look, as `KINDS/NAME`."""
        self.empty = True
        """Whether no webhook has a bundle."""

    async def look(self, wanted: bytes | None) -> None:
        """Make every webhook's bundle contain `wanted`, PEM; with None, only look at bundles. And
        make its path end with a secret of ours.

        Errors: ApiError, OutcomeUnknown (call it again).
        """
        ours = None if wanted is None else read_certificates(wanted)
        bundles: list[list[x509.Certificate]] = []
        stored: list[str] = []
        missing = []
        for name in self._paths:
            found = await self._bring(name, ours, stored)
            if found is None:
                missing.append(name)
            else:
                bundles += found
        if missing != self.missing:
            for name in missing:
                log.warning("%s is missing: apply the output of `cardquota manifests`", name)
            self.missing = missing
        self._secrets.stored(stored)
        self._note(bundles, ours)

    def trusted(self, seconds: float) -> list[x509.Certificate]:
        """The CAs that all webhooks have been seen to trust for so long."""
        since = self._clock() - seconds
        return [one for one, at in self._trusted.items() if at <= since]

    @property
    def others(self) -> bool:
        """Whether an unwanted CA is trusted: then other replicas may serve under it."""
        return bool(self._unwanted)

    def _note(
        self, bundles: list[list[x509.Certificate]], ours: Sequence[x509.Certificate] | None
    ) -> None:
        now = self._clock()
        self.empty = not any(bundles)
        everywhere = set(bundles[0]).intersection(*bundles) if bundles else ()
        self._trusted = {one: self._trusted.get(one, now) for one in everywhere}
        foreign = {one for b in bundles for one in b if one not in (ours or b)}
        self._unwanted = {one: self._unwanted.get(one, now) for one in foreign}

    async def _bring(
        self,
        name: str,
        ours: Sequence[x509.Certificate] | None,
        stored: list[str],
    ) -> list[list[x509.Certificate]] | None:
        """What each webhook trusts at the end. None if the configuration is missing. `stored` gets
        the secrets that it held, and holds at the end.
        """
        path = f"{_GROUP}/{name}"
        for attempt in range(1, _TRIES + 1):
            try:
                found = _decode(await self._client.get(path))
                webhooks = found.webhooks or []
                left_alone = ours is None or any(
                    key.startswith(_INJECTED) for key in found.metadata.annotations or ()
                )
                now = [read_certificates(_decoded(w.client_config.ca_bundle)) for w in webhooks]
                then = now
                if not left_alone:
                    then = [self._wanted(bundle, ours or ()) for bundle in now]
                patch = _patch(webhooks, now, then)
                published = [_in_words(then)] if patch else []
                paths = self._path_patch(self._paths[name], webhooks, stored)
                if paths:
                    patch += paths
                    published.append("the path")
                if patch:
                    await self._client.patch(path, patch, content_type=JSON_PATCH)
                    log.info("%s: published %s", name, " and ".join(published))
            except ApiError as error:
                if error.status == 404:
                    return None
                if error.status not in _MOVED or attempt == _TRIES:
                    raise
            else:
                return then
        raise AssertionError("unreachable")

    def _path_patch(
        self, base: str, webhooks: Sequence[_Webhook], stored: list[str]
    ) -> list[dict[str, str]]:
        """What makes every webhook's path end with a secret of ours."""
        patch = []
        for index, webhook in enumerate(webhooks):
            before, _, found = webhook.client_config.path.rpartition("/")
            secret = self._secrets.wanted(found if before == base else "")
            stored += found, secret
            if (before, found) != (base, secret):
                patch += _to_path(index, webhook, f"{base}/{secret}")
        return patch

    def _wanted(
        self, bundle: Iterable[x509.Certificate], ours: Sequence[x509.Certificate]
    ) -> list[x509.Certificate]:
        """Our CAs, and the other CAs that have not lingered long enough."""
        now = self._clock()

        def lingers(one: x509.Certificate) -> bool:
            return now - self._unwanted.get(one, now) < self._linger

        return [*ours, *(one for one in bundle if one not in ours and lingers(one))]


def _decoded(ca_bundle: str) -> bytes:
    try:
        return base64.b64decode(ca_bundle)
    except binascii.Error:
        return b""


def _in_words(bundles: Iterable[Sequence[x509.Certificate]]) -> str:
    count = max((len(bundle) for bundle in bundles), default=0)
    return "the CA" if count == 1 else f"{count} CAs"


def _patch(
    webhooks: Sequence[_Webhook],
    now: Sequence[Sequence[x509.Certificate]],
    then: Sequence[Sequence[x509.Certificate]],
) -> list[dict[str, str]]:
    patch = []
    for index, (webhook, before, after) in enumerate(zip(webhooks, now, then, strict=True)):
        if set(before) != set(after):
            at = f"/webhooks/{index}"
            value = base64.b64encode(to_pem(after)).decode()
            patch += [
                {"op": "test", "path": f"{at}/name", "value": webhook.name},
                {"op": "add", "path": f"{at}/clientConfig/caBundle", "value": value},
            ]
    return patch


def _to_path(index: int, webhook: _Webhook, path: str) -> list[dict[str, str]]:
    at = f"/webhooks/{index}"
    named = {"op": "test", "path": f"{at}/name", "value": webhook.name}
    url = webhook.client_config.url
    if url is None:
        return [named, {"op": "add", "path": f"{at}/clientConfig/service/path", "value": path}]
    there, called = f"{at}/clientConfig/url", urlsplit(url)._replace(path=path).geturl()
    unmoved = {"op": "test", "path": there, "value": url}
    return [named, unmoved, {"op": "replace", "path": there, "value": called}]

"""How the API server calls us, in the webhook configurations: our CAs, and the path. We write no
other field.
"""

import base64
import logging
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Final
from urllib.parse import urlsplit

import msgspec
from cryptography import x509

from ...loop.time_slice import boottime
from ..api.api_error import ApiError
from ..api.client import JSON_PATCH, Client
from ..writes import WrittenObject
from .certificates import from_base64, read_certificates, to_pem
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


class _Configuration(WrittenObject):
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
                left_alone = ours is None or any(
                    key.startswith(_INJECTED) for key in found.metadata.annotations or ()
                )
                bundles: list[list[x509.Certificate]] = []
                patch: list[dict[str, str]] = []
                for index, webhook in enumerate(found.webhooks or ()):
                    at, config = f"/webhooks/{index}", webhook.client_config
                    before = read_certificates(from_base64(config.ca_bundle))
                    after = before if left_alone else self._wanted(before, ours or ())
                    bundles.append(after)
                    changes = self._path_changes(self._paths[name], at, config, stored)
                    if set(before) != set(after):
                        value = base64.b64encode(to_pem(after)).decode()
                        stored_at = f"{at}/clientConfig/caBundle"
                        changes.append({"op": "add", "path": stored_at, "value": value})
                    if changes:
                        patch.append({"op": "test", "path": f"{at}/name", "value": webhook.name})
                        patch += changes
                if patch:
                    await self._client.patch(path, patch, content_type=JSON_PATCH)
                    log.info("%s: published the CA and the path", name)
            except ApiError as error:
                if error.status == 404:
                    return None
                if error.status not in _MOVED or attempt == _TRIES:
                    raise
            else:
                return bundles
        raise AssertionError("unreachable")

    def _path_changes(
        self, base: str, at: str, config: _ClientConfig, stored: list[str]
    ) -> list[dict[str, str]]:
        """What makes the path end with a secret of ours. `at`: the webhook."""
        before, _, found = config.path.rpartition("/")
        secret = self._secrets.wanted(found if before == base else "")
        stored += found, secret
        if (before, found) == (base, secret):
            return []
        path = f"{base}/{secret}"
        if config.url is None:
            return [{"op": "add", "path": f"{at}/clientConfig/service/path", "value": path}]
        there, called = f"{at}/clientConfig/url", urlsplit(config.url)._replace(path=path).geturl()
        return [
            {"op": "test", "path": there, "value": config.url},
            {"op": "replace", "path": there, "value": called},
        ]

    def _wanted(
        self, bundle: Iterable[x509.Certificate], ours: Sequence[x509.Certificate]
    ) -> list[x509.Certificate]:
        """Our CAs, and the other CAs that have not lingered long enough."""
        now = self._clock()

        def lingers(one: x509.Certificate) -> bool:
            return now - self._unwanted.get(one, now) < self._linger

        return [*ours, *(one for one in bundle if one not in ours and lingers(one))]

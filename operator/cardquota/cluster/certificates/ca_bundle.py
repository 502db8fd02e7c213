"""How the API server calls us, in the webhook configurations: our CAs, and the path. We write no
other field.

A secret is at the end of every path (N1). An API server shows a webhook no certificate unless its
own configuration says so, and whoever reaches the port could send reviews of his own making. So
only who knows the path is answered. The secret is computed from the serving certificate's key:
whoever reads the Secret knows it, every replica does, and nothing else has to be stored. It changes
with the certificate, and every ten minutes: when a call fails, the API server tells the URL to the
user whose request it was.
"""

import base64
import hmac
import logging
import re
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import chain
from typing import Final
from urllib.parse import urlsplit

import msgspec
from cryptography import x509

from ...loop.timing import boottime
from ..api.api_error import ApiError
from ..api.client import JSON_PATCH, Client
from ..writes import WrittenObject
from .certificates import KeyPair, from_base64, read_certificates, to_pem

PERIOD: Final = 600
"""Seconds between two secrets of one certificate."""
_AHEAD: Final = 6
"""Periods by which the clock of another replica may be ahead."""
READ_BY_ALL: Final = 30.0
"""Seconds after which every replica has read a new certificate: each looks every few seconds."""
OVERLAP: Final = 60.0
"""Seconds for which a secret is still answered once no webhook object holds it."""
_SECRET: Final = re.compile(r"[0-9a-f]{64}")


def is_secret(segment: str) -> bool:
    """Whether a segment of a path may be one: it has the form."""
    return _SECRET.fullmatch(segment) is not None


class PathSecrets:
    """Which secrets are answered, and which one the webhook objects should hold.

    Guarantees: an answered secret is of a certificate of ours, now or in the next hour (clocks
    differ), or was read from our webhook objects. The latter are answered until they have not been
    read there for OVERLAP seconds: an API server that calls by what is stored is never refused.
    A secret that is stored is replaced only by one that all replicas have had the time to compute.
    """

    def __init__(self, clock: Callable[[], float] = time.time) -> None:
        """`clock`: seconds since 1970; replicas should roughly agree."""
        self._clock = clock
        self._pairs: list[tuple[KeyPair, float]] = []
        """The certificates of the Secret and when they were first seen, the newest last."""
        self._stored: dict[str, float] = {}
        """What webhook objects held, and when it was last read."""
        self._computed: tuple[int, list[list[str]]] = (0, [])
        """For this period: the secrets of each certificate, the one of now first."""

    def learn(self, pair: KeyPair) -> None:
        """The Secret holds this certificate now."""
        now = self._clock()
        if not self._pairs or self._pairs[-1][0] != pair:
            self._pairs = [*self._pairs[-1:], (pair, now)]
        elif len(self._pairs) > 1 and now - self._pairs[-1][1] >= READ_BY_ALL + OVERLAP:
            del self._pairs[0]
        else:
            return
        self._computed = 0, []

    def stored(self, secrets: Iterable[str]) -> None:
        """All webhook objects were read, and hold these."""
        now = self._clock()
        self._stored = {one: at for one, at in self._stored.items() if now - at < OVERLAP}
        self._stored.update({one: now for one in secrets if is_secret(one)})

    def wanted(self, found: str) -> str:
        """What a webhook object should hold that holds `found`; needs a certificate first."""
        of_pairs = self._of_pairs()
        if self._clock() - self._pairs[-1][1] < READ_BY_ALL:
            return found if is_secret(found) else of_pairs[0][0]
        return found if found in of_pairs[-1] else of_pairs[-1][0]

    def knows(self, secret: str) -> bool:
        """Whether a caller with this secret is answered. In constant time for each candidate."""
        said = secret.encode(errors="replace")
        candidates = chain(self._stored, *self._of_pairs())
        return any(hmac.compare_digest(said, one.encode()) for one in candidates)

    def _of_pairs(self) -> list[list[str]]:
        period = int(self._clock() // PERIOD)
        if self._computed[0] != period:
            ahead = range(period, period + 1 + _AHEAD)
            found = [[_secret(pair, one) for one in ahead] for pair, _ in self._pairs]
            self._computed = period, found
        return self._computed[1]


def _secret(pair: KeyPair, period: int) -> str:
    """256 bits, as 64 digits: the segments of a webhook's path are DNS labels."""
    said = b"cardquota webhook path %d\0" % period + pair.cert_pem
    return hmac.new(pair.key_pem, said, "sha256").hexdigest()


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

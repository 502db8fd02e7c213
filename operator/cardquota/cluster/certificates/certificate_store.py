"""The Secret with CA and serving certificate, which all replicas share.

Two kinds: our own, which is made, rotated and repaired here (`OwnSecret`), and one that
cert-manager or a person maintains, which is never written (`GivenSecret`).
"""

import base64
import binascii
import logging
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from typing import Final, NamedTuple, Protocol

import msgspec
from cryptography import x509

from ..api.api_error import ApiError, OutcomeUnknown
from ..api.client import Client, get_if_there
from .certificates import KeyPair, why_unusable
from .pem import read_certificates
from .rotation import Holding, Lifetimes, next_step

log = logging.getLogger(__name__)

_CA: Final = "ca.crt"
_CA_KEY: Final = "ca.key"
_CERT: Final = "tls.crt"
_KEY: Final = "tls.key"
_NEXT_CA: Final = "next-ca.crt"
_NEXT_CA_KEY: Final = "next-ca.key"
_LEFT: Final = "old-tls.crt"


class _SecretMeta(msgspec.Struct, rename="camel"):
    resource_version: str = ""


class _Secret(msgspec.Struct):
    metadata: _SecretMeta
    data: dict[str, str] | None = None


_decode = msgspec.json.Decoder(_Secret).decode


def utc_now() -> datetime:
    """The time of day."""
    return datetime.now(UTC)


class Found(NamedTuple):
    """The result of one look at the Secret."""

    holding: Holding | None
    """None if it cannot be served."""
    problem: str = ""
    """In words for people: what is wrong with the Secret, and what to do."""


class CertificateSource(Protocol):
    """A Secret that certificates come from."""

    async def look(
        self, served: Holding | None, is_trusted: Callable[[x509.Certificate], bool]
    ) -> Found:
        """Read it, and take a step if we maintain it. Errors: ApiError, OutcomeUnknown."""


class OwnSecret:
    """The Secret `namespace`/`name`, created by whichever replica comes first.

    Guarantees: every write names the revision that it was decided on. If replicas look at the same
    time, one writes and the others find its result. Keys that are not ours are kept.
    """

    def __init__(
        self,
        client: Client,
        *,
        namespace: str,
        name: str,
        names: Sequence[str],
        now: Callable[[], datetime] = utc_now,
        lifetimes: Lifetimes | None = None,
    ) -> None:
        """`names`: the names by which the API server may call us."""
        self._client = client
        self._where = f"{namespace}/{name}"
        self._name = name
        self._path = f"/api/v1/namespaces/{namespace}/secrets"
        self._names = names
        self._now = now
        self._lifetimes = lifetimes or Lifetimes()

    async def look(
        self, served: Holding | None, is_trusted: Callable[[x509.Certificate], bool]
    ) -> Found:
        """Read it, and take at most one step. Errors: ApiError, OutcomeUnknown.

        A failed write is no error: the result is then what was read, if that can still be served.
        If another replica was faster, the next look finds what it wrote.
        """
        secret = await _read(self._client, f"{self._path}/{self._name}")
        held = _holding(secret) if secret else Holding()
        step = next_step(
            held,
            served,
            self._names,
            now=self._now(),
            lifetimes=self._lifetimes,
            is_trusted=is_trusted,
        )
        if step is None:
            return Found(held)
        try:
            await self._write(secret, step.holding)
        except (ApiError, OutcomeUnknown) as error:
            unusable = why_unusable(held.serving, held.bundle, (), now=self._now())
            faster = isinstance(error, ApiError) and error.status == 409
            problem = f"Secret <{self._where}> cannot be written: {error}; trying again"
            return Found(None if unusable else held, "" if faster else problem)
        log.info("Secret %s: %s", self._where, step.what)
        return Found(step.holding)

    async def _write(self, secret: _Secret | None, holding: Holding) -> None:
        if secret is None:
            body = {
                "apiVersion": "v1",
                "kind": "Secret",
                "type": "kubernetes.io/tls",
                "metadata": {
                    "name": self._name,
                    "labels": {"app.kubernetes.io/managed-by": "cardquota"},
                },
                "data": {key: value for key, value in _data(holding).items() if value},
            }
            await self._client.post(self._path, body)
        else:
            metadata = {"resourceVersion": secret.metadata.resource_version}
            body = {"metadata": metadata, "data": _data(holding)}
            await self._client.patch(f"{self._path}/{self._name}", body)


class GivenSecret:
    """The Secret `namespace`/`name`, which others maintain. Never written.

    `tls.crt` may also contain intermediate certificates. If `ca.crt` is missing or empty, others
    also publish the CA to the API server (cert-manager's ca-injector).
    """

    def __init__(
        self,
        client: Client,
        *,
        namespace: str,
        name: str,
        names: Sequence[str],
        now: Callable[[], datetime] = utc_now,
        setting: str = "webhook.certificates",
    ) -> None:
        """`names`: the names by which callers know us. `setting`: says that others keep it."""
        self._setting = setting
        self._client = client
        self._where = f"{namespace}/{name}"
        self._path = f"/api/v1/namespaces/{namespace}/secrets/{name}"
        self._names = names
        self._now = now

    async def look(
        self, served: Holding | None, is_trusted: Callable[[x509.Certificate], bool]
    ) -> Found:
        """Read it. Errors: ApiError, OutcomeUnknown."""
        secret = await _read(self._client, self._path)
        if secret is None:
            return Found(
                None,
                f"Secret <{self._where}> is missing: {self._setting} is `secret`, so create "
                f"it with {_CERT}, {_KEY} and {_CA}, or see why cert-manager does not",
            )
        held = _holding(secret)
        given = Holding(held.serving, held.bundle)
        bundle = given.bundle or None
        if bundle is not None and not read_certificates(bundle):
            flaw: str | None = f"its {_CA} is unreadable"
        else:
            flaw = why_unusable(given.serving, bundle, self._names, now=self._now())
        if flaw is None:
            return Found(given)
        return Found(
            None,
            f"Secret <{self._where}> cannot be served: {flaw}; put a {_CERT}, {_KEY} and {_CA} "
            "there that belong together, or see why cert-manager does not",
        )


async def _read(client: Client, path: str) -> _Secret | None:
    found = await get_if_there(client, path)
    return None if found is None else _decode(found)


def _holding(secret: _Secret) -> Holding:
    data = secret.data or {}

    def value(key: str) -> bytes:
        try:
            return base64.b64decode(data.get(key, ""), validate=True)
        except binascii.Error:
            return b""

    return Holding(
        KeyPair(value(_CERT), value(_KEY)),
        value(_CA),
        value(_CA_KEY),
        KeyPair(value(_NEXT_CA), value(_NEXT_CA_KEY)),
        value(_LEFT),
    )


def _data(holding: Holding) -> dict[str, str | None]:
    """The values by key; null removes a key."""
    parts = {
        _CA: holding.bundle,
        _CA_KEY: holding.authority_key,
        _CERT: holding.serving.cert_pem,
        _KEY: holding.serving.key_pem,
        _NEXT_CA: holding.next.cert_pem,
        _NEXT_CA_KEY: holding.next.key_pem,
        _LEFT: holding.left,
    }
    return {key: base64.b64encode(pem).decode() if pem else None for key, pem in parts.items()}

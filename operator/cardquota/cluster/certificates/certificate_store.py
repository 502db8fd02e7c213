"""The Secret with CA and serving certificate, which all replicas share.

Two kinds: our own, which is made, renewed and repaired here (`OwnSecret`), and one that
cert-manager or a person maintains, which is never written (`GivenSecret`).

Our own has one CA for ten years. A serving certificate is renewed under it: a client that trusts
the old one trusts the new one, in whatever order replicas switch to it. If the CA is lost or about
to end, a new CA and a new certificate are written together. No replica serves that certificate
before its CA is published (`certificate_manager`).
"""

import base64
import logging
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import KW_ONLY, dataclass, field, replace
from datetime import UTC, datetime, timedelta
from typing import Final, NamedTuple

import msgspec

from ..api.api_error import ApiError, OutcomeUnknown
from ..api.client import Client, get_if_there
from ..writes import WrittenObject
from .certificates import (
    NO_PAIR,
    KeyPair,
    can_sign,
    from_base64,
    make_authority,
    make_serving,
    read_certificates,
    to_pem,
    why_unusable,
)

log = logging.getLogger(__name__)

AUTHORITY: Final = timedelta(days=3650)
"""How long a CA is valid."""
SERVING: Final = timedelta(days=90)
"""How long a serving certificate is valid."""
MARGIN: Final = timedelta(days=30)
"""How long before its end either is replaced: time to notice and repair what prevents that."""

_CA: Final = "ca.crt"
_CA_KEY: Final = "ca.key"
_CERT: Final = "tls.crt"
_KEY: Final = "tls.key"
_KEYS: Final = (_CA, _CA_KEY, _CERT, _KEY)


class _Secret(WrittenObject):
    data: dict[str, str] | None = None


_decode = msgspec.json.Decoder(_Secret).decode


def utc_now() -> datetime:
    """The time of day."""
    return datetime.now(UTC)


@dataclass(frozen=True, slots=True)
class Holding:
    """What the Secret holds. All PEM. Its text form contains no key."""

    serving: KeyPair = NO_PAIR
    """`tls.crt`, `tls.key`."""
    bundle: bytes = b""
    """`ca.crt`: all CAs that are to be trusted."""
    authority_key: bytes = field(default=b"", repr=False)
    """`ca.key`: the key of the CA in the bundle that signs; empty if others sign."""

    @property
    def authority(self) -> KeyPair | None:
        """The CA that signs, if its key is here."""
        for one in read_certificates(self.bundle):
            pair = KeyPair(to_pem([one]), self.authority_key)
            if can_sign(pair):
                return pair
        return None


class Found(NamedTuple):
    """The result of one look at the Secret."""

    holding: Holding | None
    """None if it cannot be served."""
    problem: str = ""
    """In words for people: what is wrong with the Secret, and what to do."""


@dataclass
class CertificateSource(ABC):
    """The Secret `namespace`/`name`, from which certificates come."""

    client: Client
    _: KW_ONLY
    namespace: str
    name: str
    names: Sequence[str]
    """By which callers know us."""
    now: Callable[[], datetime] = utc_now

    @abstractmethod
    async def look(self) -> Found:
        """Read it, and renew it if we maintain it. Errors: ApiError, OutcomeUnknown."""

    async def _read(self) -> _Secret | None:
        found = await get_if_there(self.client, f"{self._secrets}/{self.name}")
        return None if found is None else _decode(found)

    @property
    def _secrets(self) -> str:
        return f"/api/v1/namespaces/{self.namespace}/secrets"

    @property
    def _where(self) -> str:
        return f"{self.namespace}/{self.name}"


class OwnSecret(CertificateSource):
    """Created by whichever replica comes first.

    Guarantees: every write names the revision that it was decided on. If replicas look at the same
    time, one writes and the others find its result. Keys that are not ours are kept.
    """

    async def look(self) -> Found:
        """Read it, and renew what has to be. Errors: ApiError, OutcomeUnknown.

        A failed write is no error: the result is then what was read, if that can still be served.
        If another replica was faster, the next look finds what it wrote.
        """
        secret = await self._read()
        held = _holding(secret) if secret else Holding()
        then, why = renewed(held, self.names, now=self.now())
        if not why:
            return Found(held)
        try:
            await self._write(secret, then)
        except (ApiError, OutcomeUnknown) as error:
            unusable = why_unusable(held.serving, held.bundle, (), now=self.now())
            faster = isinstance(error, ApiError) and error.status == 409
            problem = f"Secret <{self._where}> cannot be written: {error}; trying again"
            return Found(None if unusable else held, "" if faster else problem)
        log.info("Secret %s: %s", self._where, why)
        return Found(then)

    async def _write(self, secret: _Secret | None, holding: Holding) -> None:
        if secret is None:
            body = {
                "apiVersion": "v1",
                "kind": "Secret",
                "type": "kubernetes.io/tls",
                "metadata": {
                    "name": self.name,
                    "labels": {"app.kubernetes.io/managed-by": "cardquota"},
                },
                "data": {key: value for key, value in _data(holding).items() if value},
            }
            await self.client.post(self._secrets, body)
        else:
            metadata = {"resourceVersion": secret.metadata.resource_version}
            body = {"metadata": metadata, "data": _data(holding)}
            await self.client.patch(f"{self._secrets}/{self.name}", body)


@dataclass
class GivenSecret(CertificateSource):
    """Maintained by others, and never written.

    `tls.crt` may also contain intermediate certificates. If `ca.crt` is missing or empty, others
    also publish the CA to the API server (cert-manager's ca-injector).
    """

    setting: str = "webhook.certificates"
    """That says so."""

    async def look(self) -> Found:
        """Read it. Errors: ApiError, OutcomeUnknown."""
        secret = await self._read()
        if secret is None:
            return Found(
                None,
                f"Secret <{self._where}> is missing: {self.setting} is `secret`, so create "
                f"it with {_CERT}, {_KEY} and {_CA}, or see why cert-manager does not",
            )
        held = _holding(secret)
        given = Holding(held.serving, held.bundle)
        bundle = given.bundle or None
        if bundle is not None and not read_certificates(bundle):
            flaw: str | None = f"its {_CA} is unreadable"
        else:
            flaw = why_unusable(given.serving, bundle, self.names, now=self.now())
        if flaw is None:
            return Found(given)
        return Found(
            None,
            f"Secret <{self._where}> cannot be served: {flaw}; put a {_CERT}, {_KEY} and {_CA} "
            "there that belong together, or see why cert-manager does not",
        )


def renewed(held: Holding, names: Sequence[str], *, now: datetime) -> tuple[Holding, str]:
    """What our own Secret should hold, and why that is something else, in words for the log; empty:
    it is in order. No key of a CA is restored: whoever deletes the Secret wants new keys.
    """
    authority = held.authority
    if authority is None or _end(authority) <= now + MARGIN:
        why = f"is valid until {_end(authority)}" if authority else "is missing, or cannot sign"
        authority = make_authority(now=now, until=now + AUTHORITY)
        serving = make_serving(names, authority, now=now, until=now + SERVING)
        then = Holding(serving, authority.cert_pem, authority.key_pem)
        return then, f"a new CA and serving certificate, for the CA {why}"
    flaw = why_unusable(held.serving, held.bundle, names, now=now, margin=MARGIN)
    if flaw is None:
        return held, ""
    serving = make_serving(names, authority, now=now, until=now + SERVING)
    return replace(held, serving=serving), f"a new serving certificate, for {flaw}"


def _end(authority: KeyPair) -> datetime:
    return read_certificates(authority.cert_pem)[0].not_valid_after_utc


def _holding(secret: _Secret) -> Holding:
    data = secret.data or {}
    ca, ca_key, cert, key = (from_base64(data.get(name, "")) for name in _KEYS)
    return Holding(KeyPair(cert, key), ca, ca_key)


def _data(holding: Holding) -> dict[str, str | None]:
    """The values by key; null removes a key."""
    serving = holding.serving
    parts = (holding.bundle, holding.authority_key, serving.cert_pem, serving.key_pem)
    return {
        key: base64.b64encode(pem).decode() if pem else None
        for key, pem in zip(_KEYS, parts, strict=True)
    }

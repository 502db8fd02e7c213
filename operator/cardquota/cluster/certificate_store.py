"""The serving certificate in a Secret: all replicas use one, made by whoever comes first."""

import base64
import binascii
import logging
from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from typing import Final

import msgspec

from .api_error import ApiError
from .ca_bundle import publish_ca
from .certificates import ServingCertificate, issue, why_unusable
from .client import Client

__all__ = ["load_or_create", "publish_ca"]

log = logging.getLogger(__name__)

_CA: Final = "ca.crt"
_CA_KEY: Final = "ca.key"
_CERT: Final = "tls.crt"
_KEY: Final = "tls.key"
_TRIES: Final = 5


class _Meta(msgspec.Struct, rename="camel"):
    resource_version: str = ""


class _Secret(msgspec.Struct):
    metadata: _Meta
    data: dict[str, str] | None = None


_decode = msgspec.json.Decoder(_Secret).decode


def _now() -> datetime:
    return datetime.now(UTC)


async def load_or_create(
    client: Client,
    *,
    namespace: str,
    name: str,
    names: Sequence[str],
    now: Callable[[], datetime] = _now,
    days: int = 365,
    margin: timedelta = timedelta(days=30),
) -> ServingCertificate:
    """The certificate in the Secret `namespace`/`name`, made or replaced if it will not do.

    Guarantees: all who call this with the same names get the same certificate, whoever is first;
    a replacement keeps the CA where that will do. Call it now and then: it is how a replica learns
    that another one replaced the certificate, and how it is replaced before it ends.
    Errors: ApiError, OutcomeUnknown (then call it again: it reads first).
    """
    path = f"/api/v1/namespaces/{namespace}/secrets"
    for attempt in range(1, _TRIES + 1):
        secret = await _read(client, f"{path}/{name}")
        old = None if secret is None else _certificate(secret)
        if old is not None:
            reason = why_unusable(old, names, now=now(), margin=margin)
            if reason is None:
                return old
            log.info("Secret %s/%s: a new serving certificate, for %s", namespace, name, reason)
        new = issue(names, now=now(), days=days, authority=old)
        try:
            if secret is None:
                await client.post(path, {**_body(new), "metadata": _metadata(name)})
            else:
                metadata = {"resourceVersion": secret.metadata.resource_version}
                await client.patch(f"{path}/{name}", {"metadata": metadata, "data": _data(new)})
        except ApiError as error:
            if error.status != 409 or attempt == _TRIES:
                raise
            continue  # another replica was faster: take what it made
        return new
    raise AssertionError("unreachable")


async def _read(client: Client, path: str) -> _Secret | None:
    try:
        return _decode(await client.get(path))
    except ApiError as error:
        if error.status == 404:
            return None
        raise


def _certificate(secret: _Secret) -> ServingCertificate:
    data = secret.data or {}

    def value(key: str) -> bytes:
        try:
            return base64.b64decode(data.get(key, ""), validate=True)
        except binascii.Error:
            return b""

    return ServingCertificate(value(_CA), value(_CERT), value(_KEY), value(_CA_KEY))


def _body(certificate: ServingCertificate) -> dict[str, object]:
    return {
        "apiVersion": "v1",
        "kind": "Secret",
        "type": "kubernetes.io/tls",
        "data": _data(certificate),
    }


def _metadata(name: str) -> dict[str, object]:
    return {"name": name, "labels": {"app.kubernetes.io/managed-by": "cardquota"}}


def _data(certificate: ServingCertificate) -> dict[str, str]:
    parts = {
        _CA: certificate.ca_pem,
        _CERT: certificate.cert_pem,
        _KEY: certificate.key_pem,
        _CA_KEY: certificate.ca_key_pem,
    }
    return {key: base64.b64encode(pem).decode() for key, pem in parts.items()}

"""Whether the API server trusts somebody as the operator, and until when; and whether the operator
can know it (N1). Pure.
"""

import base64
import binascii
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime, timedelta
from typing import Any, Final, NamedTuple

from ....cluster.certificates.path_secrets import is_secret
from ....cluster.certificates.pem import read_certificates
from ....settings import Settings
from ... import sentences
from ...object_answer import inner
from ..finding import Finding
from .installation_fault import fault

SOON: Final = timedelta(days=20)
"""Less is left than any rotation leaves: the operator's own replaces a certificate 30 days before
its end."""
_LONGEST_BUNDLE: Final = 1_048_576
"""Characters."""


def bundle_findings(found: Mapping[str, Any], settings: Settings, now: float) -> Iterator[Finding]:
    """Of one webhook configuration as it is stored; the first webhook that is wrong stands for all.

    One without a CA is right where somebody else keeps the certificate: its CA may be one that the
    API server's machine trusts. `now`: seconds since 1970.
    """
    kind, name = str(inner(found, "kind") or ""), str(inner(found, "metadata", "name") or "")
    webhooks = inner(found, "webhooks")
    for webhook in webhooks if isinstance(webhooks, list) else ():
        wrong = _wrong_bundle(kind, name, webhook, settings, now)
        if wrong is not None:
            reason, why = wrong
            own = settings.webhook.certificates == "own"
            advice = sentences.SEE_ROTATION if own else sentences.SEE_ISSUER
            yield fault((kind, "", name), reason, why, advice)
            return
        if not _has_secret(webhook):
            why = sentences.path_missing(kind, name, str(inner(webhook, "name") or ""))
            yield fault((kind, "", name), "PathMissing", why, sentences.SEE_PATH)
            return


def _has_secret(webhook: object) -> bool:
    at = ("clientConfig", "service", "path"), ("clientConfig", "url")
    return any(is_secret(str(inner(webhook, *one)).rpartition("/")[2]) for one in at)


def _wrong_bundle(
    kind: str, name: str, webhook: object, settings: Settings, now: float
) -> tuple[str, str] | None:
    title, text = str(inner(webhook, "name") or ""), inner(webhook, "clientConfig", "caBundle")
    if not text:
        if settings.webhook.certificates != "own":
            return None
        return "CaBundleMissing", sentences.bundle_missing(kind, name, title)
    authorities = read_certificates(_decoded(text))
    if not authorities:
        return "CaBundleUnreadable", sentences.bundle_unreadable(kind, name, title)
    end = max(one.not_valid_after_utc for one in authorities)
    if end <= datetime.fromtimestamp(now, UTC):
        return "CaBundleOver", sentences.bundle_over(kind, name, title, _date(end))
    return None


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


def certificate_findings(
    certificate: bytes | None, secret: CertificateSecret, namespace: str, now: float
) -> Iterator[Finding]:
    """`certificate`: the one in the Secret, PEM; None: there is no Secret. At most one."""
    about, where = ("Secret", namespace, secret.name), f"{namespace}/{secret.name}"
    advice = sentences.SEE_ROTATION if secret.own else sentences.SEE_ISSUER
    if certificate is None:
        yield fault(about, "CertificateMissing", sentences.certificate_missing(where), advice)
        return
    chain = read_certificates(certificate)
    if not chain:
        yield fault(about, "CertificateUnreadable", sentences.certificate_unreadable(where), advice)
        return
    end, today = chain[0].not_valid_after_utc, datetime.fromtimestamp(now, UTC)
    if end - today < SOON:
        why = sentences.certificate_ends(where, _date(end), over=end <= today)
        yield fault(about, "CertificateEnds", why, advice)


def _date(moment: datetime) -> str:
    return f"{moment:%Y-%m-%d}"


def _decoded(text: object) -> bytes:
    if not isinstance(text, str) or len(text) > _LONGEST_BUNDLE:
        return b""
    try:
        return base64.b64decode(text)
    except (binascii.Error, ValueError):
        return b""

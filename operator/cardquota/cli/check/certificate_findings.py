"""Whether the API server trusts somebody as the operator, and until when; and whether the operator
can know it (N1). Pure.
"""

import base64
import binascii
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime, timedelta
from typing import Any, Final, NamedTuple

from ...cluster.certificates.certificates import read_certificates
from ...cluster.certificates.path_secrets import is_secret
from ...quota.words import show
from ...settings import Settings
from ..reading import inner
from .section import Finding, FindingKind

_SOON: Final = timedelta(days=20)
"""Less is left than any rotation leaves: the operator's own replaces a certificate 30 days before
its end."""
_LONGEST_BUNDLE: Final = 1_048_576
"""Characters."""


def fault(about: tuple[str, str, str], reason: str, why: str, advice: str) -> Finding:
    """One thing that is wrong with the installation. `about`: kind, namespace and name."""
    return Finding(FindingKind.INSTALLATION, *about, reason, why, advice)


def bundle_findings(found: Mapping[str, Any], settings: Settings, now: float) -> Iterator[Finding]:
    """Of one webhook configuration as it is stored; the first webhook that is wrong stands for all.

    One without a CA is right where somebody else keeps the certificate: its CA may be one that the
    API server's machine trusts. `now`: seconds since 1970.
    """
    kind, name = str(inner(found, "kind") or ""), str(inner(found, "metadata", "name") or "")
    where = f"{kind} <{show(name)}>"
    own = settings.webhook.certificates == "own"
    webhooks = inner(found, "webhooks")
    for webhook in webhooks if isinstance(webhooks, list) else ():
        title = show(str(inner(webhook, "name") or ""))
        wrong = _wrong_bundle(where, title, webhook, now, own=own)
        if wrong is None and not _has_secret(webhook):
            why = f"the path of {title} in {where} has no secret of the operator, so the operator "
            advice = "the operator writes it within seconds: see in its log why it does not"
            yield fault((kind, "", name), "PathMissing", f"{why}answers no call", advice)
            return
        if wrong is not None:
            yield fault((kind, "", name), *wrong, _advice(own=own))
            return


def _has_secret(webhook: object) -> bool:
    at = ("clientConfig", "service", "path"), ("clientConfig", "url")
    return any(is_secret(str(inner(webhook, *one)).rpartition("/")[2]) for one in at)


def _advice(*, own: bool) -> str:
    if own:
        return "see in the operator's log why it is not renewed"
    return "see why it is not renewed by whatever writes the Secret, such as cert-manager"


def _wrong_bundle(
    where: str, title: str, webhook: object, now: float, *, own: bool
) -> tuple[str, str] | None:
    """The reason, in one word and as a sentence."""
    text = inner(webhook, "clientConfig", "caBundle")
    if not text:
        why = f"{where} has no CA for {title}, so the API server cannot call it"
        return ("CaBundleMissing", why) if own else None
    authorities = read_certificates(decoded(text, _LONGEST_BUNDLE))
    if not authorities:
        return "CaBundleUnreadable", f"the CA of {title} in {where} cannot be read"
    end = max(one.not_valid_after_utc for one in authorities)
    if end <= datetime.fromtimestamp(now, UTC):
        return "CaBundleOver", f"the CA of {title} in {where} ended on {end:%Y-%m-%d}"
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
    about = ("Secret", namespace, secret.name)
    where = f"Secret <{show(f'{namespace}/{secret.name}')}>"
    advice = _advice(own=secret.own)
    if certificate is None:
        why = f"there is no {where}, so there is no certificate to serve or to show"
        yield fault(about, "CertificateMissing", why, advice)
        return
    chain = read_certificates(certificate)
    if not chain:
        why = f"tls.crt of {where} cannot be read"
        yield fault(about, "CertificateUnreadable", why, advice)
        return
    end, today = chain[0].not_valid_after_utc, datetime.fromtimestamp(now, UTC)
    if end - today < _SOON:
        ends = "ended" if end <= today else "ends"
        why = f"the certificate in {where} {ends} on {end:%Y-%m-%d}"
        yield fault(about, "CertificateEnds", why, advice)


def decoded(text: object, longest: int) -> bytes:
    """What stands in a field in base64; empty if nothing readable does."""
    if not isinstance(text, str) or len(text) > longest:
        return b""
    try:
        return base64.b64decode(text)
    except (binascii.Error, ValueError):
        return b""

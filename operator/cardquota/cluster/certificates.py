"""A CA of our own and a serving certificate from it (EC P-256: a key costs 0.1 ms)."""

import ipaddress
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Final

from cryptography import x509
from cryptography.exceptions import InvalidSignature, UnsupportedAlgorithm
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

_CA_YEARS: Final = 10
_SKEW: Final = timedelta(hours=1)
"""How far into the past certificates begin: clocks of other machines may be late."""
_UNREADABLE = (ValueError, TypeError, UnsupportedAlgorithm)


@dataclass(frozen=True, slots=True)
class ServingCertificate:
    """What an HTTPS server needs, and what its callers need to trust it. All PEM.

    The text form holds no key.
    """

    ca_pem: bytes
    """For `caBundle`: our CA, and while it is replaced also the one before."""
    cert_pem: bytes
    key_pem: bytes = field(repr=False)
    ca_key_pem: bytes = field(default=b"", repr=False)
    """Key of the first CA in `ca_pem`; empty if somebody else issued the certificate."""


def issue(
    names: Iterable[str],
    *,
    now: datetime,
    days: int,
    authority: ServingCertificate | None = None,
) -> ServingCertificate:
    """A serving certificate for DNS names and IP addresses, valid for `days` from `now`.

    The CA of `authority` signs it, if that is usable and outlives the certificate (callers that
    trust it need learn nothing); else a new CA does, and `ca_pem` goes on holding the old one as
    long as that is valid.
    """
    wanted = list(dict.fromkeys(names))
    if not wanted:
        raise ValueError("a serving certificate needs at least one name")
    until = now + timedelta(days=days)
    ca_pem, ca_cert, ca_key = _authority(authority, now, until)
    key = ec.generate_private_key(ec.SECP256R1())
    # A common name holds 64 characters at most; nobody reads it beside the alternative names.
    cert = (
        _builder(wanted[0][:64], ca_cert.subject, key.public_key(), now, until)
        .add_extension(x509.SubjectAlternativeName([_general_name(n) for n in wanted]), False)
        .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
        .add_extension(_usage(signs_certificates=False), critical=True)
        .add_extension(x509.ExtendedKeyUsage([ExtendedKeyUsageOID.SERVER_AUTH]), False)
        .add_extension(
            x509.AuthorityKeyIdentifier.from_issuer_public_key(ca_key.public_key()), False
        )
        .sign(ca_key, hashes.SHA256())
    )
    return ServingCertificate(ca_pem, _pem(cert), _key_pem(key), _key_pem(ca_key))


def why_unusable(
    certificate: ServingCertificate, names: Iterable[str], *, now: datetime, margin: timedelta
) -> str | None:
    """Why a new one is needed, for people; None if this one will do for `margin` from now."""
    try:
        cert = x509.load_pem_x509_certificate(certificate.cert_pem)
        key = serialization.load_pem_private_key(certificate.key_pem, None)
        authorities = x509.load_pem_x509_certificates(certificate.ca_pem)
        if cert.public_key() != key.public_key():
            return "its key is another one's"
        covered = cert.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    except (*_UNREADABLE, x509.ExtensionNotFound) as error:
        return f"it is unreadable ({type(error).__name__})"
    signers = [authority for authority in authorities if _signed_by(cert, authority)]
    if not signers:
        return "its CA did not sign it"
    until = min(cert.not_valid_after_utc, max(s.not_valid_after_utc for s in signers))
    if until < now + margin or cert.not_valid_before_utc > now:
        return f"it is valid from {cert.not_valid_before_utc} to {until}"
    missing = [name for name in names if _general_name(name) not in covered]
    return f"it does not cover {', '.join(missing)}" if missing else None


def _authority(
    old: ServingCertificate | None, now: datetime, until: datetime
) -> tuple[bytes, x509.Certificate, ec.EllipticCurvePrivateKey]:
    """CA bundle, CA and its key: the old one where it will do."""
    still_valid = b""
    if old is not None:
        try:
            first = x509.load_pem_x509_certificates(old.ca_pem)[0]
            if first.not_valid_after_utc > now:
                still_valid = _pem(first)
            key = serialization.load_pem_private_key(old.ca_key_pem, None)
            if (
                isinstance(key, ec.EllipticCurvePrivateKey)
                and first.public_key() == key.public_key()
                and first.not_valid_after_utc >= until
            ):
                return old.ca_pem, first, key
        except _UNREADABLE:
            pass
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "cardquota-ca")])
    ca_until = max(until, now + timedelta(days=365 * _CA_YEARS))
    cert = (
        _builder("cardquota-ca", name, key.public_key(), now, ca_until)
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        .add_extension(_usage(signs_certificates=True), critical=True)
        .sign(key, hashes.SHA256())
    )
    return _pem(cert) + still_valid, cert, key


def _builder(
    subject: str, issuer: x509.Name, key: ec.EllipticCurvePublicKey, now: datetime, until: datetime
) -> x509.CertificateBuilder:
    return (
        x509.CertificateBuilder()
        .subject_name(x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, subject)]))
        .issuer_name(issuer)
        .public_key(key)
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - _SKEW)
        .not_valid_after(until)
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(key), critical=False)
    )


def _usage(*, signs_certificates: bool) -> x509.KeyUsage:
    return x509.KeyUsage(
        digital_signature=not signs_certificates,
        key_cert_sign=signs_certificates,
        crl_sign=signs_certificates,
        content_commitment=False,
        key_encipherment=False,
        data_encipherment=False,
        key_agreement=False,
        encipher_only=False,
        decipher_only=False,
    )


def _signed_by(cert: x509.Certificate, authority: x509.Certificate) -> bool:
    try:
        cert.verify_directly_issued_by(authority)
    except (*_UNREADABLE, InvalidSignature):
        return False
    return True


def _general_name(name: str) -> x509.GeneralName:
    try:
        return x509.IPAddress(ipaddress.ip_address(name))
    except ValueError:
        return x509.DNSName(name)


def _pem(cert: x509.Certificate) -> bytes:
    return cert.public_bytes(serialization.Encoding.PEM)


def _key_pem(key: ec.EllipticCurvePrivateKey) -> bytes:
    return key.private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.PKCS8,
        serialization.NoEncryption(),
    )

"""Certificates: read without errors, compared, and checked for their issuer; a CA of our own, and
serving certificates from it (EC P-256: a key costs 0.1 ms).
"""

import base64
import ipaddress
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Final

from cryptography import x509
from cryptography.exceptions import InvalidSignature, UnsupportedAlgorithm
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

_SKEW: Final = timedelta(hours=1)
"""How far in the past certificates begin: the clocks of other machines may be slow."""
UNREADABLE: Final = (ValueError, TypeError, UnsupportedAlgorithm)
"""The errors of reading a certificate or a key."""
_FOR_BOTH: Final = (ExtendedKeyUsageOID.SERVER_AUTH, ExtendedKeyUsageOID.CLIENT_AUTH)
"""Each Secret has a CA of its own, so whom a certificate convinces is decided by who trusts it."""


def read_certificates(pem: bytes) -> list[x509.Certificate]:
    """All certificates in it, in order, without duplicates; none if any cannot be read."""
    try:
        found = x509.load_pem_x509_certificates(pem)
    except UNREADABLE:
        return []
    return list(dict.fromkeys(found))


def from_base64(text: str) -> bytes:
    """What stands in a field of an object; empty if it cannot be read."""
    try:
        return base64.b64decode(text)
    except ValueError:
        return b""


def to_pem(certificates: Iterable[x509.Certificate]) -> bytes:
    """The certificates one after the other."""
    return b"".join(one.public_bytes(serialization.Encoding.PEM) for one in certificates)


def holds_key(certificate: x509.Certificate, key_pem: bytes) -> bool:
    """Whether this key belongs to the certificate."""
    try:
        key = serialization.load_pem_private_key(key_pem, None)
        return certificate.public_key() == key.public_key()
    except UNREADABLE:
        return False


def trusted_through(
    chain: Sequence[x509.Certificate], authorities: Iterable[x509.Certificate]
) -> list[x509.Certificate]:
    """The authorities that issued, or are, a certificate of the chain."""
    return [
        authority
        for authority in authorities
        if any(link == authority or _issued_by(link, authority) for link in chain)
    ]


def _issued_by(certificate: x509.Certificate, authority: x509.Certificate) -> bool:
    try:
        certificate.verify_directly_issued_by(authority)
    except (*UNREADABLE, InvalidSignature):
        return False
    return True


@dataclass(frozen=True, slots=True)
class KeyPair:
    """A certificate, maybe with its chain to the CA, and its key. PEM.

    Its text form contains no key.
    """

    cert_pem: bytes = b""
    key_pem: bytes = field(default=b"", repr=False)


NO_PAIR: Final = KeyPair()


def make_authority(*, now: datetime, until: datetime) -> KeyPair:
    """A new CA."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = "cardquota-ca"
    cert = (
        _builder(name, _name(name), key.public_key(), now, until)
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        .add_extension(_usage(signs_certificates=True), critical=True)
        .sign(key, hashes.SHA256())
    )
    return KeyPair(to_pem([cert]), _key_pem(key))


def make_serving(
    names: Iterable[str], authority: KeyPair, *, now: datetime, until: datetime
) -> KeyPair:
    """A serving certificate for DNS names and IP addresses. It never outlives its CA.

    Errors: ValueError without a name, or if the authority cannot be read.
    """
    wanted = list(dict.fromkeys(names))
    if not wanted:
        raise ValueError("a serving certificate needs at least one name")
    issuer = x509.load_pem_x509_certificate(authority.cert_pem)
    issuer_key = serialization.load_pem_private_key(authority.key_pem, None)
    if not isinstance(issuer_key, ec.EllipticCurvePrivateKey):
        raise ValueError("the CA's key is not of our making")  # noqa: TRY004
    key = ec.generate_private_key(ec.SECP256R1())
    end = min(until, issuer.not_valid_after_utc)
    # A common name has at most 64 characters. Clients read the alternative names instead.
    cert = (
        _builder(wanted[0][:64], issuer.subject, key.public_key(), now, end)
        .add_extension(x509.SubjectAlternativeName([_general_name(n) for n in wanted]), False)
        .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
        .add_extension(_usage(signs_certificates=False), critical=True)
        .add_extension(x509.ExtendedKeyUsage(_FOR_BOTH), False)
        .add_extension(
            x509.AuthorityKeyIdentifier.from_issuer_public_key(issuer_key.public_key()), False
        )
        .sign(issuer_key, hashes.SHA256())
    )
    return KeyPair(to_pem([cert]), _key_pem(key))


def can_sign(authority: KeyPair) -> bool:
    """Whether certificates can be issued with it."""
    found = read_certificates(authority.cert_pem)
    try:
        key = serialization.load_pem_private_key(authority.key_pem, None)
    except UNREADABLE:
        return False
    ours = isinstance(key, ec.EllipticCurvePrivateKey)
    return ours and len(found) == 1 and holds_key(found[0], authority.key_pem)


def why_unusable(
    pair: KeyPair,
    ca_pem: bytes | None,
    names: Iterable[str],
    *,
    now: datetime,
    margin: timedelta = timedelta(),
) -> str | None:
    """Why a new one is needed, in words for people. None if it can be used for `margin` from now.

    `ca_pem`: the CAs that its callers trust. None if that is not known here.
    """
    chain = read_certificates(pair.cert_pem)
    if not chain:
        return "its certificate is missing or unreadable"
    cert = chain[0]
    if not holds_key(cert, pair.key_pem):
        return "its key is missing, unreadable or another one's"
    ends = [cert.not_valid_after_utc]
    if ca_pem is not None:
        signers = trusted_through(chain, read_certificates(ca_pem))
        if not signers:
            return "its CA did not sign it"
        ends.append(max(signer.not_valid_after_utc for signer in signers))
    if min(ends) <= now + margin or cert.not_valid_before_utc > now:
        return f"it is valid from {cert.not_valid_before_utc} to {min(ends)}"
    missing = [name for name in names if not _covers(_alternative_names(cert), name)]
    return f"it does not cover {', '.join(missing)}" if missing else None


def _alternative_names(cert: x509.Certificate) -> Sequence[x509.GeneralName]:
    try:
        return list(cert.extensions.get_extension_for_class(x509.SubjectAlternativeName).value)
    except (*UNREADABLE, x509.ExtensionNotFound):
        return []


def _covers(alternatives: Sequence[x509.GeneralName], name: str) -> bool:
    wanted = _general_name(name)
    any_first_label = x509.DNSName("*." + name.partition(".")[2])
    return wanted in alternatives or (
        isinstance(wanted, x509.DNSName) and any_first_label in alternatives
    )


def _builder(
    subject: str, issuer: x509.Name, key: ec.EllipticCurvePublicKey, now: datetime, until: datetime
) -> x509.CertificateBuilder:
    return (
        x509.CertificateBuilder()
        .subject_name(_name(subject))
        .issuer_name(issuer)
        .public_key(key)
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - _SKEW)
        .not_valid_after(until)
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(key), critical=False)
    )


def _name(common: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, common)])


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


def _general_name(name: str) -> x509.GeneralName:
    try:
        return x509.IPAddress(ipaddress.ip_address(name))
    except ValueError:
        return x509.DNSName(name)


def _key_pem(key: ec.EllipticCurvePrivateKey) -> bytes:
    return key.private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.PKCS8,
        serialization.NoEncryption(),
    )

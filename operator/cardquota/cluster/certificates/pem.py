"""Certificates as PEM: read without errors, compared, and checked for their issuer."""

from collections.abc import Iterable, Sequence
from typing import Final

from cryptography import x509
from cryptography.exceptions import InvalidSignature, UnsupportedAlgorithm
from cryptography.hazmat.primitives import serialization

UNREADABLE: Final = (ValueError, TypeError, UnsupportedAlgorithm)
"""The errors of reading a certificate or a key."""


def read_certificates(pem: bytes) -> list[x509.Certificate]:
    """All certificates in it, in order, without duplicates; none if any cannot be read."""
    try:
        found = x509.load_pem_x509_certificates(pem)
    except UNREADABLE:
        return []
    return list(dict.fromkeys(found))


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

"""The plane's keys and certificates: new for every plane, valid only on loopback."""

import ipaddress
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

from ..folder import Folder, write_private

_LIFE = timedelta(days=30)
_USES = [ExtendedKeyUsageOID.SERVER_AUTH, ExtendedKeyUsageOID.CLIENT_AUTH]
"""To serve, and for the API server to ask a kubelet."""


class Keys:
    """The paths that `make_keys` writes."""

    def __init__(self, folder: Folder) -> None:
        self.authority = folder.private / "ca.crt"
        self.certificate = folder.private / "serving.crt"
        self.key = folder.private / "serving.key"
        self.service_account_key = folder.private / "service-account.key"
        self.service_account_public = folder.private / "service-account.pub"


def make_keys(folder: Folder, hosts: Sequence[str] = (), addresses: Sequence[str] = ()) -> Keys:
    """An authority, a serving certificate for 127.0.0.1, a key for service account tokens.

    `hosts`, `addresses`: others that the certificate is valid for. The authority's own key is never
    written.
    """
    keys = Keys(folder)
    authority_key = ec.generate_private_key(ec.SECP256R1())
    serving_key = ec.generate_private_key(ec.SECP256R1())
    authority_name = _name("cardquota local plane")
    authority = (
        _builder(authority_name, authority_name, authority_key.public_key())
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        .sign(authority_key, hashes.SHA256())
    )
    names = [
        *(x509.IPAddress(ipaddress.ip_address(one)) for one in ("127.0.0.1", *addresses)),
        x509.DNSName("localhost"),
        x509.DNSName("kubernetes.default.svc"),
        *map(x509.DNSName, hosts),
    ]
    serving = (
        _builder(_name("127.0.0.1"), authority_name, serving_key.public_key())
        .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
        .add_extension(x509.SubjectAlternativeName(names), critical=False)
        .add_extension(x509.ExtendedKeyUsage(_USES), critical=False)
        .sign(authority_key, hashes.SHA256())
    )
    _write(keys.authority, authority.public_bytes(serialization.Encoding.PEM))
    _write(keys.certificate, serving.public_bytes(serialization.Encoding.PEM))
    _write(keys.key, _private(serving_key))
    tokens = ec.generate_private_key(ec.SECP256R1())
    _write(keys.service_account_key, _private(tokens))
    _write(
        keys.service_account_public,
        tokens.public_key().public_bytes(
            serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo
        ),
    )
    return keys


def _name(text: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, text)])


def _builder(
    subject: x509.Name, issuer: x509.Name, key: ec.EllipticCurvePublicKey
) -> x509.CertificateBuilder:
    now = datetime.now(UTC)
    return (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer)
        .public_key(key)
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(hours=1))
        .not_valid_after(now + _LIFE)
    )


def _private(key: ec.EllipticCurvePrivateKey) -> bytes:
    return key.private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.TraditionalOpenSSL,
        serialization.NoEncryption(),
    )


def _write(path: Path, pem: bytes) -> None:
    write_private(path, pem.decode())

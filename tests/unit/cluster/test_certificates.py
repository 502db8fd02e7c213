import ssl
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from cryptography import x509

from cardquota.cluster.certificates import ServingCertificate, issue, why_unusable

NOW = datetime(2026, 5, 1, tzinfo=UTC)
NAMES = ["hook.system.svc", "127.0.0.1"]
MONTH = timedelta(days=30)


def _why(certificate: ServingCertificate, *, now: datetime = NOW, names: list[str] = NAMES) -> str:
    return why_unusable(certificate, names, now=now, margin=MONTH) or ""


def _handshake(certificate: ServingCertificate, name: str, folder: Path) -> None:
    """A TLS handshake in memory, with the strictest checks."""
    pem = folder / "server.pem"
    pem.write_bytes(certificate.cert_pem + certificate.key_pem)
    server = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    server.load_cert_chain(pem)
    client = ssl.create_default_context(cadata=certificate.ca_pem.decode())
    client.verify_flags |= ssl.VERIFY_X509_STRICT
    up, down = ssl.MemoryBIO(), ssl.MemoryBIO()
    caller = client.wrap_bio(down, up, server_hostname=name)
    callee = server.wrap_bio(up, down, server_side=True)
    for _ in range(4):
        for side in (caller, callee):
            try:
                side.do_handshake()
            except ssl.SSLWantReadError:
                continue


def test_a_new_certificate_is_trusted_under_all_its_names(tmp_path: Path) -> None:
    certificate = issue(NAMES, now=datetime.now(UTC), days=60)
    assert _why(certificate, now=datetime.now(UTC)) == ""
    for name in NAMES:
        _handshake(certificate, name, tmp_path)
    with pytest.raises(ssl.SSLCertVerificationError):
        _handshake(certificate, "other.system.svc", tmp_path)


def test_why_a_certificate_will_not_do() -> None:
    good, other = issue(NAMES, now=NOW, days=60), issue(NAMES, now=NOW, days=60)
    assert "valid" in _why(good, now=NOW + timedelta(days=31))
    assert "valid" in _why(good, now=NOW - timedelta(days=1))
    assert _why(good, names=["hook.system.svc", "new"]) == "it does not cover new"
    empty = ServingCertificate(b"", b"", b"")
    assert "unreadable" in _why(empty)
    swapped = ServingCertificate(good.ca_pem, good.cert_pem, other.key_pem)
    assert _why(swapped) == "its key is another one's"
    foreign = ServingCertificate(other.ca_pem, good.cert_pem, good.key_pem)
    assert _why(foreign) == "its CA did not sign it"


def test_a_replacement_keeps_the_authority() -> None:
    old = issue(NAMES, now=NOW, days=60)
    new = issue([*NAMES, "new"], now=NOW, days=60, authority=old)
    assert new.ca_pem == old.ca_pem
    assert new.cert_pem != old.cert_pem
    assert _why(new, names=[*NAMES, "new"]) == ""


def test_an_authority_that_ends_too_soon_is_replaced_and_stays_trusted_for_a_while() -> None:
    old = issue(NAMES, now=NOW, days=60)
    later = NOW + timedelta(days=3640)
    new = issue(NAMES, now=later, days=60, authority=old)
    assert [c.not_valid_after_utc > later for c in x509.load_pem_x509_certificates(new.ca_pem)] == [
        True,
        True,
    ]
    assert new.ca_pem.endswith(old.ca_pem)
    assert _why(new, now=later) == ""
    much_later = later + timedelta(days=3640)
    third = issue(NAMES, now=much_later, days=60, authority=new)
    assert len(x509.load_pem_x509_certificates(third.ca_pem)) == 2
    assert old.ca_pem not in third.ca_pem


def test_an_unusable_authority_is_no_obstacle() -> None:
    broken = ServingCertificate(b"nonsense", b"", b"", b"nonsense")
    assert _why(issue(NAMES, now=NOW, days=60, authority=broken)) == ""


def test_keys_stay_out_of_texts() -> None:
    assert "KEY" not in repr(issue(NAMES, now=NOW, days=60))


def test_a_name_is_needed() -> None:
    with pytest.raises(ValueError, match="at least one name"):
        issue([], now=NOW, days=60)

import ssl
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from cryptography import x509

from builders.certificates import Issued, issue
from cardquota.cluster.certificates import NO_PAIR, KeyPair, can_sign, make_serving, why_unusable

NOW = datetime(2026, 5, 1, tzinfo=UTC)
NAMES = ["hook.system.svc", "127.0.0.1"]
MONTH = timedelta(days=30)


def _why(issued: Issued, *, now: datetime = NOW, names: list[str] = NAMES) -> str:
    return why_unusable(issued.pair, issued.ca_pem, names, now=now, margin=MONTH) or ""


def _handshake(certificate: Issued, name: str, folder: Path) -> None:
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
    assert "certificate is missing" in (why_unusable(NO_PAIR, b"", NAMES, now=NOW) or "")
    swapped = KeyPair(good.cert_pem, other.key_pem)
    assert "key is" in (why_unusable(swapped, good.ca_pem, NAMES, now=NOW) or "")
    foreign = why_unusable(good.pair, other.ca_pem, NAMES, now=NOW)
    assert foreign == "its CA did not sign it"
    assert why_unusable(good.pair, None, NAMES, now=NOW) is None


def test_a_certificate_may_cover_a_name_by_its_first_label() -> None:
    wild = issue(["*.system.svc"], now=NOW, days=60)
    assert _why(wild, names=["hook.system.svc"]) == ""
    assert "does not cover" in _why(wild, names=["hook.other.svc"])
    assert "does not cover" in _why(wild, names=["127.0.0.1"])


def test_a_certificate_never_outlives_its_authority() -> None:
    issued = issue(NAMES, now=NOW, days=60, ca_days=40)
    cert, authority = (x509.load_pem_x509_certificate(p) for p in (issued.cert_pem, issued.ca_pem))
    assert cert.not_valid_after_utc == authority.not_valid_after_utc


def test_what_can_sign() -> None:
    good, other = issue(NAMES, now=NOW, days=60), issue(NAMES, now=NOW, days=60)
    assert can_sign(good.authority)
    for cert, key in (
        (good.ca_pem, b""),
        (good.ca_pem, b"nonsense"),
        (good.ca_pem, other.ca_key_pem),
        (b"nonsense", good.ca_key_pem),
        (good.ca_pem + other.ca_pem, good.ca_key_pem),
    ):
        assert not can_sign(KeyPair(cert, key))


def test_keys_stay_out_of_texts() -> None:
    assert "KEY" not in repr(issue(NAMES, now=NOW, days=60).pair)


def test_a_name_is_needed() -> None:
    authority = issue(NAMES, now=NOW, days=60).authority
    with pytest.raises(ValueError, match="at least one name"):
        make_serving([], authority, now=NOW, until=NOW + timedelta(days=1))

"""Whether the API server trusts somebody as the operator, and until when it can."""

import base64
from datetime import UTC, datetime
from typing import Any

from builders.certificates import issue
from cardquota.cli.check.installation_section import (
    CertificateSecret,
    bundle_findings,
    certificate_findings,
    secrets_with_certificates,
)
from cardquota.settings import Extender, Settings, Webhook

NOW = datetime(2026, 5, 1, tzinfo=UTC)
AT = NOW.timestamp()
DAY = 86_400
OWN = Settings()
GIVEN = Settings(webhook=Webhook(certificates="secret"))
SECRET = CertificateSecret("cardquota-webhook", own=True)
CALLED = {"service": {"path": "/mutate/" + 32 * "a1"}}
PAIR = issue(["hook.system.svc"], now=NOW, days=60, ca_days=100)


def stored(*bundles: object) -> dict[str, Any]:
    webhooks = [
        {"name": f"{number}.example.com", "clientConfig": {"caBundle": bundle, **CALLED}}
        for number, bundle in enumerate(bundles)
    ]
    kind, meta = "ValidatingWebhookConfiguration", {"name": "cardquota"}
    return {"kind": kind, "metadata": meta, "webhooks": webhooks}


def encoded(*pems: bytes) -> str:
    return base64.b64encode(b"".join(pems)).decode()


def wrong(*bundles: object, settings: Settings = OWN, now: float = AT) -> list[str]:
    return [one.reason for one in bundle_findings(stored(*bundles), settings, now)]


def test_a_bundle_with_a_ca_that_is_good() -> None:
    older = issue(["x"], now=datetime(2025, 1, 1, tzinfo=UTC), days=10, ca_days=20)
    assert wrong(encoded(PAIR.ca_pem), encoded(older.ca_pem, PAIR.ca_pem)) == []


def test_a_bundle_that_is_missing() -> None:
    assert wrong(encoded(PAIR.ca_pem), "", None) == ["CaBundleMissing"], "the first is told"
    assert wrong("", settings=GIVEN) == [], "it may be a CA that the API server's machine trusts"


def test_a_bundle_that_cannot_be_read() -> None:
    for text in (encoded(b"no"), "%", 7, "A" * 3_000_000):
        assert wrong(text) == ["CaBundleUnreadable"]


def test_a_bundle_that_is_over() -> None:
    later = AT + 101 * DAY
    (one,) = bundle_findings(stored(encoded(PAIR.ca_pem)), OWN, later)
    assert one.reason == "CaBundleOver"
    assert one.why.endswith("in ValidatingWebhookConfiguration <cardquota> ended on 2026-08-09")


def test_n1_a_path_without_a_secret() -> None:
    found = stored(encoded(PAIR.ca_pem))
    (webhook,) = found["webhooks"]
    secret, shown = 32 * "b2", []
    for called, right in (
        ({"url": f"https://10.0.0.1:9443/mutate/{secret}"}, True),
        ({"url": "https://10.0.0.1:9443/mutate"}, False),
        ({"service": {"path": "/mutate/" + secret}}, True),
        ({"service": {"path": "/mutate/" + secret[1:]}}, False),
        ({"service": {}}, False),
        ({}, False),
    ):
        webhook["clientConfig"] = {"caBundle": encoded(PAIR.ca_pem), **called}
        findings = list(bundle_findings(found, OWN, AT))
        assert [one.reason for one in findings] == ([] if right else ["PathMissing"]), called
        shown += findings
    assert secret[1:] not in str(shown)


def test_an_object_of_another_form() -> None:
    assert list(bundle_findings({"webhooks": 7}, OWN, AT)) == []
    (one,) = bundle_findings({"webhooks": [7]}, OWN, AT)
    assert one.reason == "CaBundleMissing"


def test_the_serving_certificate() -> None:
    def reasons(pem: bytes | None, after: float = 0) -> list[str]:
        return [one.reason for one in certificate_findings(pem, SECRET, "ns", AT + after)]

    assert reasons(PAIR.cert_pem) == []
    assert reasons(PAIR.cert_pem, 39 * DAY) == []
    assert reasons(PAIR.cert_pem, 41 * DAY) == ["CertificateEnds"]
    assert reasons(None) == ["CertificateMissing"]
    assert reasons(b"no") == ["CertificateUnreadable"]
    (one,) = certificate_findings(PAIR.cert_pem, SECRET, "ns", AT + 61 * DAY)
    assert (one.kind, one.namespace, one.name) == ("Secret", "ns", "cardquota-webhook")
    assert one.why == "the certificate in Secret <ns/cardquota-webhook> ended on 2026-06-30"


def test_which_secrets_have_one() -> None:
    assert secrets_with_certificates(OWN) == [SECRET]
    assert secrets_with_certificates(GIVEN) == [("cardquota-webhook", False)]
    extender = Settings(extender=Extender(enabled=True))
    names = ["cardquota-webhook", "cardquota-extender", "cardquota-extender-client"]
    assert [one.name for one in secrets_with_certificates(extender)] == names

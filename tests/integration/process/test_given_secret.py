"""A replica whose certificate somebody else keeps: it waits for it, and takes up the next one."""

import base64
from datetime import UTC, datetime
from pathlib import Path

import pytest
from cryptography import x509

from builders.certificates import Issued, issue
from cardquota_dev.testing import Cluster, eventually
from integration.asking import MERGE, ask

from .running import (
    QUICK,
    OperatorProcess,
    apply_webhooks,
    install_base,
    json_lines,
    published_ca,
    tracebacks,
)
from .test_life import a_review

pytestmark = [pytest.mark.plane, pytest.mark.disruptive, pytest.mark.long]

SECRETS = "/api/v1/namespaces/cardquota-system/secrets"


def data_of(issued: Issued) -> dict[str, str]:
    values = {"tls.crt": issued.cert_pem, "tls.key": issued.key_pem, "ca.crt": issued.ca_pem}
    return {key: base64.b64encode(value).decode() for key, value in values.items()}


def test_it_waits_for_the_secret_and_takes_up_the_next_without_being_started_again(
    bare: Cluster, tmp_path: Path
) -> None:
    assert bare.folder is not None
    install_base(bare)
    config = {**QUICK, "webhook": {"certificates": "secret", "secret": "cardquota-webhook"}}
    operator = OperatorProcess(tmp_path, bare.folder.product_kubeconfig, config)
    apply_webhooks(bare, operator)
    operator.start()
    try:
        eventually(lambda: "cardquota-webhook> is missing" in operator.get("/readyz")[1], "named")
        assert operator.get("/readyz")[0] == 503
        first, second = (issue(["127.0.0.1"], now=datetime.now(UTC), days=9) for _ in range(2))
        body = {"metadata": {"name": "cardquota-webhook"}, "data": data_of(first)}
        assert ask(bare, "POST", SECRETS, body).ok
        operator.until_leading()
        assert operator.get("/readyz") == (200, "ok, leading\n")
        assert published_ca(bare) == first.ca_pem.decode()
        operator.review(bare, "/validate", a_review("nobody-s"))
        path, change = f"{SECRETS}/cardquota-webhook", {"data": data_of(second)}
        assert ask(bare, "PATCH", path, change, content_type=MERGE).ok
        eventually(lambda: len(published_ca(bare).split("BEGIN")) == 3, "both CAs trusted")
        serial = f"{serial_of(second):x}"
        eventually(lambda: serial in operator.log.read_text(), "taken up")
        operator.review(bare, "/validate", a_review("nobody-s"))
        stored = ask(bare, "GET", path).body
        assert stored["data"] == data_of(second), "it is never written"
        assert operator.process.poll() is None
    finally:
        operator.kill()
    assert tracebacks(operator.log) == []
    assert "PRIVATE KEY" not in operator.log.read_text()
    missing = [line for line in json_lines(operator.log) if "is missing" in line["message"]]
    assert len(missing) == 1


def serial_of(issued: Issued) -> int:
    return x509.load_pem_x509_certificate(issued.cert_pem).serial_number

"""The objects of the component cert-manager, by cert-manager's own definitions."""

import pytest

from cardquota_dev.build.definitions import CERTIFICATE, ISSUER, definition_file
from cardquota_dev.paths import CHECKOUT
from cardquota_dev.testing import eventually

from .policy_api import PolicyApi, allowed

pytestmark = [pytest.mark.disruptive, pytest.mark.slow]

FILE = CHECKOUT / "manifests" / "components" / "cert-manager" / "certificates.yaml"
STRICT = ("apply", "--dry-run=server", "--validate=strict", "-f", "-")


def test_an_api_server_takes_them(api: PolicyApi) -> None:
    for definition in (CERTIFICATE, ISSUER):
        file = definition_file(definition)
        allowed(api.kubectl("apply", "--server-side", "-f", str(file)))
    text = FILE.read_text()
    accepted = eventually(lambda: _accepted(api, text), "cert-manager's kinds are served")
    assert accepted.count("created (server dry run)") == 4
    assert not _accepted(api, text.replace("issuerRef:", "issuer:"))


def _accepted(api: PolicyApi, text: str) -> str:
    done = api.plane.kubectl(*STRICT, input=text)
    return done.stdout if done.returncode == 0 else ""

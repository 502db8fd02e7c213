"""`manifests/`: an API server takes all of it, and the operator may do no more than it must."""

from pathlib import Path

import pytest

from cardquota.runtime import serving_names
from cardquota.settings import Settings
from cardquota_dev.testing import eventually

from .kustomized import built, by_name, container
from .policy_api import ROOT, SETTINGS, TEAM, TENANT, PolicyApi, allowed

pytestmark = [pytest.mark.disruptive, pytest.mark.slow]

OWN = SETTINGS.namespace


def may(api: PolicyApi, who: str, verb: str, resource: str, *flags: str) -> bool:
    answer = api.plane.kubectl("auth", "can-i", verb, resource, who, *flags)
    return answer.stdout.strip() == "yes"


def test_the_whole_base_is_accepted(api: PolicyApi) -> None:
    dry = ("apply", "--server-side", "--force-conflicts", "--dry-run=server")
    allowed(api.kubectl(*dry, "-k", str(ROOT / "manifests" / "base")))


def test_with_cert_manager_the_secret_is_its_own(api: PolicyApi, tmp_path: Path) -> None:
    """As far as it goes without cert-manager: the component fits the base."""
    found = by_name(built(api, tmp_path, "cert-manager"))
    serving = found["Certificate", "cardquota-webhook"]
    assert serving["metadata"]["namespace"] == OWN
    assert serving["spec"]["secretName"] == SETTINGS.webhook.secret
    assert serving["spec"]["dnsNames"] == serving_names(SETTINGS.webhook, SETTINGS.namespace)
    issuer = serving["spec"]["issuerRef"]["kind"], serving["spec"]["issuerRef"]["name"]
    authority = found[issuer]["spec"]["ca"]["secretName"]
    assert found["Certificate", "cardquota-webhook-ca"]["spec"]["secretName"] == authority
    with pytest.MonkeyPatch.context() as patch:
        for variable in container(found)["env"]:
            patch.setenv(variable["name"], variable["value"])
        assert Settings().webhook.certificates == "secret"


def test_the_samples_are_accepted(api: PolicyApi) -> None:
    samples = ROOT / "manifests" / "samples"
    allowed(api.kubectl("apply", "-f", str(samples / "namespace.yaml")))
    allowed(api.kubectl("apply", "--dry-run=server", "-f", str(samples)))


def test_a_tenant_writes_pod_groups_and_no_queues(api: PolicyApi) -> None:
    groups = "podgroups.scheduling.volcano.sh"
    eventually(lambda: may(api, TENANT, "create", groups, "-n", TEAM))
    assert not may(api, TENANT, "patch", groups, "-n", TEAM, "--subresource=status")
    assert not may(api, TENANT, "patch", "queues.scheduling.volcano.sh")

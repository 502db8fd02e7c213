"""`manifests/`: an API server takes all of it, and the operator may do no more than it must."""

from os.path import relpath
from pathlib import Path

import pytest
import yaml

from cardquota.runtime.admission_endpoint import serving_names
from cardquota.settings import Settings
from cardquota_dev.testing import eventually

from .stage import ROOT, SETTINGS, TEAM, TENANT, US, Stage, allowed

pytestmark = [pytest.mark.disruptive, pytest.mark.slow]

OWN = SETTINGS.namespace


def may(stage: Stage, who: str, verb: str, resource: str, *flags: str) -> bool:
    answer = stage.plane.kubectl("auth", "can-i", verb, resource, who, *flags)
    return answer.stdout.strip() == "yes"


def test_the_whole_base_is_accepted(stage: Stage) -> None:
    dry = ("apply", "--server-side", "--force-conflicts", "--dry-run=server")
    allowed(stage.kubectl(*dry, "-k", str(ROOT / "manifests" / "base")))


def test_with_cert_manager_the_secret_is_its_own(stage: Stage, tmp_path: Path) -> None:
    """As far as it goes without cert-manager: the component fits the base."""
    manifests = ROOT / "manifests"
    kustomization = {
        "resources": [relpath(manifests / "base", tmp_path)],
        "components": [relpath(manifests / "components" / "cert-manager", tmp_path)],
    }
    (tmp_path / "kustomization.yaml").write_text(yaml.safe_dump(kustomization))
    built = stage.plane.kubectl("kustomize", str(tmp_path))
    assert built.returncode == 0, built.stderr
    documents = {
        (one["kind"], one["metadata"]["name"]): one for one in yaml.safe_load_all(built.stdout)
    }
    serving = documents["Certificate", "cardquota-webhook"]
    assert serving["metadata"]["namespace"] == OWN
    assert serving["spec"]["secretName"] == SETTINGS.webhook.secret
    assert serving["spec"]["dnsNames"] == serving_names(SETTINGS)
    by_name = serving["spec"]["issuerRef"]["kind"], serving["spec"]["issuerRef"]["name"]
    authority = documents[by_name]["spec"]["ca"]["secretName"]
    assert documents["Certificate", "cardquota-webhook-ca"]["spec"]["secretName"] == authority
    (container,) = documents["Deployment", "cardquota"]["spec"]["template"]["spec"]["containers"]
    with pytest.MonkeyPatch.context() as patch:
        for variable in container["env"]:
            patch.setenv(variable["name"], variable["value"])
        assert Settings().webhook.certificates == "secret"


def test_the_samples_are_accepted(stage: Stage) -> None:
    samples = ROOT / "manifests" / "samples"
    allowed(stage.kubectl("apply", "-f", str(samples / "namespace.yaml")))
    allowed(stage.kubectl("apply", "--dry-run=server", "-f", str(samples)))


@pytest.mark.parametrize(
    ("verb", "resource", "flags"),
    [
        ("watch", "pods", ["-A"]),
        ("watch", "nodes", []),
        ("watch", "queues.scheduling.volcano.sh", []),
        ("patch", "pods", ["-n", TEAM]),
        ("patch", "podgroups.scheduling.volcano.sh", ["-n", TEAM]),
        ("patch", "queues.scheduling.volcano.sh", ["--subresource=status"]),
        ("create", "events", ["-n", TEAM]),
        ("patch", "mutatingwebhookconfigurations/cardquota", []),
        ("patch", "validatingwebhookconfigurations/cardquota", []),
        ("create", "leases", ["-n", OWN]),
        ("patch", "leases/cardquota", ["-n", OWN]),
        ("watch", "leases/cardquota", ["-n", OWN]),
        ("get", "secrets/cardquota-webhook", ["-n", OWN]),
        ("patch", "secrets/cardquota-webhook", ["-n", OWN]),
        ("get", "validatingadmissionpolicies/cardquota-pods", []),
        ("get", "validatingadmissionpolicybindings/cardquota-pods", []),
        ("get", "/apis", []),
    ],
)
def test_what_the_operator_needs(stage: Stage, verb: str, resource: str, flags: list[str]) -> None:
    assert may(stage, US, verb, resource, *flags)


@pytest.mark.parametrize(
    ("verb", "resource", "flags"),
    [
        ("create", "pods", ["-n", TEAM]),
        ("update", "pods", ["-n", TEAM]),
        ("delete", "pods", ["-n", TEAM]),
        ("patch", "pods", ["-n", TEAM, "--subresource=status"]),
        ("create", "pods", ["-n", TEAM, "--subresource=binding"]),
        ("patch", "queues.scheduling.volcano.sh", []),
        ("delete", "queues.scheduling.volcano.sh", []),
        ("get", "secrets", ["-n", TEAM]),
        ("list", "secrets", ["-n", OWN]),
        ("delete", "leases/cardquota", ["-n", OWN]),
        ("update", "leases/other", ["-n", OWN]),
        ("patch", "mutatingwebhookconfigurations/other", []),
        ("update", "secrets/cardquota-webhook", ["-n", OWN]),
        ("get", "validatingadmissionpolicies/other", []),
        ("patch", "validatingadmissionpolicies/cardquota-pods", []),
        ("delete", "validatingadmissionpolicybindings", []),
    ],
)
def test_what_the_operator_may_not(
    stage: Stage, verb: str, resource: str, flags: list[str]
) -> None:
    assert not may(stage, US, verb, resource, *flags)


def test_a_tenant_writes_pod_groups_and_no_queues(stage: Stage) -> None:
    groups = "podgroups.scheduling.volcano.sh"
    eventually(lambda: may(stage, TENANT, "create", groups, "-n", TEAM))
    assert not may(stage, TENANT, "patch", groups, "-n", TEAM, "--subresource=status")
    assert not may(stage, TENANT, "patch", "queues.scheduling.volcano.sh")

"""`manifests/`: an API server takes all of it, and the operator may do no more than it must."""

import pytest

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
        ("patch", "secrets/cardquota-webhook", ["-n", OWN]),
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
        ("patch", "validatingadmissionpolicies", []),
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

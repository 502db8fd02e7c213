"""Whether the operator's replicas are ready, and of the command's version."""

from typing import Any

import pytest

from cardquota.cli.check.installation_section import deployment_findings, running_version


def a_deployment(
    image: str = "cardquota:0.1.0", *, ready: object = 2, label: str | None = None
) -> dict[str, Any]:
    containers = [{"name": "sidecar", "image": "x:9.9.9"}, {"name": "cardquota", "image": image}]
    return {
        "metadata": {"labels": {"app.kubernetes.io/version": label} if label else None},
        "spec": {"replicas": 2, "template": {"spec": {"containers": containers}}},
        "status": {"readyReplicas": ready},
    }


def reasons(deployment: dict[str, Any], own: str = "0.1.0") -> list[str]:
    return [one.reason for one in deployment_findings(deployment, "cardquota-system", own)]


@pytest.mark.parametrize(
    "image",
    [
        "cardquota:0.1.0",
        "registry.example.com:5000/gpu/cardquota:v0.1.7",
        "cardquota:0.1.0-rc.1@sha256:00",
        "cardquota",
        "cardquota:latest",
        "cardquota@sha256:00",
        "registry.example.com:5000/cardquota",
        "cardquota:" + "9" * 1_000_000,
    ],
)
def test_what_goes_with_this_command_or_says_nothing(image: str) -> None:
    assert reasons(a_deployment(image)) == []


def test_another_minor_version() -> None:
    (one,) = deployment_findings(a_deployment("cardquota:v0.2.0"), "cardquota-system", "0.1.0")
    assert one.reason == "VersionDiffers"
    assert one.why == "Deployment <cardquota-system/cardquota> runs v0.2.0, this command is 0.1.0"


def test_the_label_comes_before_the_tag() -> None:
    assert running_version(a_deployment("cardquota:0.1.0", label="1.0.0")) == "1.0.0"
    assert running_version(a_deployment("cardquota:0.1.0", label="stable")) == "0.1.0"


def test_replicas_that_are_not_ready() -> None:
    (one,) = deployment_findings(a_deployment(ready=1), "cardquota-system", "0.1.0")
    assert one.why == "Deployment <cardquota-system/cardquota> has 1 of 2 replicas ready"
    assert reasons(a_deployment(ready=None)) == ["ReplicasNotReady"]


def test_one_of_another_form() -> None:
    assert reasons({"spec": 7, "status": [], "metadata": None}) == ["ReplicasNotReady"]
    assert running_version({"spec": {"template": {"spec": {"containers": [7, {"name": 7}]}}}}) == ""

"""A plane that serves the committed CRDs, and objects that are gone after their test."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from subprocess import CompletedProcess
from typing import Any
from uuid import uuid4

import pytest

from cardquota.api import QueueStatusSchema
from cardquota_dev.testing import Cluster

Kubectl = Callable[..., CompletedProcess[str]]

CRDS = Path(__file__).parents[3] / "crds"
NAMES = ("queues.scheduling.volcano.sh", "podgroups.scheduling.volcano.sh")


def manifest(kind: str, name: str, **content: Any) -> str:
    """An object of ours as JSON."""
    base = {"apiVersion": "scheduling.volcano.sh/v1beta1", "kind": kind}
    return json.dumps(base | {"metadata": {"name": name}} | content)


@pytest.fixture(scope="module")
def kubectl(plane: Cluster) -> Kubectl:
    """kubectl, on a plane where the committed CRDs are established."""
    run: Kubectl = plane.kubectl
    applied = run("apply", "--server-side", "--force-conflicts", "-k", str(CRDS))
    assert applied.returncode == 0, applied.stderr
    for name in NAMES:
        waited = run("wait", "--for=condition=Established", "crd", name, "--timeout=30s")
        assert waited.returncode == 0, waited.stderr
    return run


@pytest.fixture
def name(kubectl: Kubectl) -> Iterator[str]:
    """A name that nobody else uses; what bears it is gone afterwards."""
    name = f"crd-{uuid4().hex[:8]}"
    yield name
    for kind in ("queue", "podgroup"):
        kubectl("delete", kind, name, "--ignore-not-found", "--wait=false")


@pytest.fixture
def create(kubectl: Kubectl, name: str) -> Callable[..., CompletedProcess[str]]:
    """Tries to create an object of a kind under the test's name; kubectl itself checks nothing."""

    def make(kind: str, **content: Any) -> CompletedProcess[str]:
        text = manifest(kind, name, **content)
        return kubectl("create", "--validate=false", "-f", "-", input=text)

    return make


@pytest.fixture
def stored(kubectl: Kubectl) -> Callable[[str, str], dict[str, Any]]:
    """Reads an object by kind and name."""

    def read(kind: str, name: str) -> dict[str, Any]:
        shown = kubectl("get", kind, name, "-o", "json")
        assert shown.returncode == 0, shown.stderr
        found: dict[str, Any] = json.loads(shown.stdout)
        return found

    return read


@pytest.fixture
def apply_status(kubectl: Kubectl, name: str) -> Callable[..., None]:
    """Applies the status of the test's Queue, as a field manager."""

    def apply(status: QueueStatusSchema, manager: str = "cardquota") -> None:
        applied = kubectl(
            *("apply", "--server-side", "--subresource=status", f"--field-manager={manager}"),
            *("-f", "-"),
            input=manifest("Queue", name, status=status.to_wire()),
        )
        assert applied.returncode == 0, applied.stderr

    return apply

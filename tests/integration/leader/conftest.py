"""A client of a plane that serves our kinds and runs no operator."""

from collections.abc import AsyncIterator

import pytest

from cardquota.cluster.api import Client, find_access
from cardquota_dev.testing import Cluster
from integration.api.conftest import CRDS, NAMES

from .release_walk import NODE


@pytest.fixture
async def client(plane: Cluster, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Client]:
    """Of a plane that serves our kinds."""
    applied = plane.kubectl("apply", "--server-side", "--force-conflicts", "-k", str(CRDS))
    assert applied.returncode == 0, applied.stderr
    for name in NAMES:
        waited = plane.kubectl("wait", "--for=condition=Established", "crd", name, "--timeout=30s")
        assert waited.returncode == 0, waited.stderr
    monkeypatch.setenv("KUBECONFIG", str(plane.kubeconfig))
    client = Client(await find_access())
    node = {"apiVersion": "v1", "kind": "Node", "metadata": {"name": NODE}}
    await client.post("/api/v1/nodes", {**node, "spec": {"unschedulable": True}})
    yield client
    await client.send("DELETE", f"/api/v1/nodes/{NODE}")
    await client.close()

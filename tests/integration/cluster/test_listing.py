"""All objects of a collection, page by page, from a real API server."""

from pathlib import Path

import msgspec
import pytest

from cardquota.cluster.api import ApiError, Client, from_kubeconfig
from cardquota.cluster.watch import IdentityMeta, Unreadable, list_objects
from cardquota_dev.testing import Cluster
from integration.asking import ask


class Frozen(msgspec.Struct):
    """A ConfigMap that has `immutable`; others are none of these."""

    metadata: IdentityMeta
    immutable: bool


async def names(kubeconfig: Path, path: str, page_size: int) -> list[str]:
    """The names of what is there; in brackets what cannot be read."""
    client = Client(await from_kubeconfig([kubeconfig]))
    try:
        return [
            f"({one.name})" if isinstance(one, Unreadable) else one.metadata.name
            async for one in list_objects(client, path, Frozen, page_size=page_size)
        ]
    finally:
        await client.close()


@pytest.mark.parametrize("page_size", [1, 2, 500])
async def test_every_object_is_handed_out_once(
    plane: Cluster, namespace: str, page_size: int
) -> None:
    """One that cannot be read keeps no other away."""
    path = f"/api/v1/namespaces/{namespace}/configmaps"
    for name, more in (("a", {"immutable": True}), ("b", {}), ("c", {"immutable": False})):
        body = {"metadata": {"name": name, "labels": {"ours": "yes"}}, **more}
        assert ask(plane, "POST", path, body).ok
    found = await names(plane.kubeconfig, path, page_size)
    assert [name for name in found if "kube-root-ca" not in name] == ["a", "(b)", "c"]


async def test_a_kind_that_is_not_there_is_not_found(plane: Cluster) -> None:
    with pytest.raises(ApiError) as failure:
        await names(plane.kubeconfig, "/apis/nowhere.example/v1/things", 500)
    assert failure.value.status == 404

"""A kind that an API server may not serve, on one that does not, then does, then does no more."""

from typing import Any

import pytest

from cardquota.cluster.api import Client
from cardquota.cluster.watch import Delivery, OptionalReflector
from cardquota.loop import Backoff
from cardquota.quota.objects import DeviceClass
from harness.newer_kubernetes import DEVICE_CLASSES_AS_RESOURCES

from .conftest import until
from .mirror import reflecting

CLASSES = "/apis/resource.k8s.io/v1/deviceclasses"
DEFINITIONS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"


class ResourceNames:
    """By class the extended resource name that it was seen with."""

    def __init__(self) -> None:
        self.names: dict[str, str | None] = {}

    def seen(self, obj: DeviceClass) -> None:
        self.names[obj.metadata.name] = obj.spec.extended_resource_name

    def gone(self, namespace: str, name: str, uid: str) -> None:
        self.names.pop(name, None)

    def undecodable(self, namespace: str, name: str, uid: str, error: str) -> None:
        raise AssertionError(f"{name}: {error}")


def a_reflector(client: Client, sink: ResourceNames, *paths: str) -> OptionalReflector[DeviceClass]:
    return OptionalReflector(
        client,
        paths=paths,
        delivery=Delivery("classes", DeviceClass, sink),
        backoff=Backoff(0.02, 0.2),
        ask_again=0.05,
        list_timeout=0.5,
    )


@pytest.mark.newer_kubernetes(DEVICE_CLASSES_AS_RESOURCES)
async def test_device_classes_are_read_by_the_version_that_is_served(
    client: Client, unique: str
) -> None:
    """Their extended resource name is kept by an API server of 1.36."""
    sink = ResourceNames()
    reflector = a_reflector(client, sink, CLASSES.replace("/v1/", "/v99/"), CLASSES)
    async with reflecting(reflector, within=30):
        spec = {"extendedResourceName": f"{unique}.example/npu"}
        await client.post(CLASSES, {"metadata": {"name": unique}, "spec": spec})
        await until(lambda: sink.names.get(unique) == f"{unique}.example/npu", "seen")
        await client.send("DELETE", f"{CLASSES}/{unique}")
        await until(lambda: unique not in sink.names, "gone")


@pytest.mark.slow
async def test_a_kind_comes_and_goes(client: Client, unique: str) -> None:
    group = f"{unique}.example"
    collection = f"/apis/{group}/v1/classes"
    schema = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
    version = {
        "name": "v1",
        "served": True,
        "storage": True,
        "schema": {"openAPIV3Schema": schema},
    }
    definition: dict[str, Any] = {
        "metadata": {"name": f"classes.{group}"},
        "spec": {
            "group": group,
            "scope": "Cluster",
            "names": {"plural": "classes", "kind": "Class"},
            "versions": [version],
        },
    }
    sink = ResourceNames()
    reflector = a_reflector(client, sink, collection)
    async with reflecting(reflector, within=30):
        assert (sink.names, reflector.lag()) == ({}, 0.0)
        await client.post(DEFINITIONS, definition)
        await until(lambda: reflector.revision > 0, "listed")
        body = {"apiVersion": f"{group}/v1", "kind": "Class", "metadata": {"name": "a"}}
        await client.post(collection, body)
        await until(lambda: sink.names == {"a": None}, "seen")
        await client.send("DELETE", f"{DEFINITIONS}/classes.{group}")
        await until(lambda: sink.names == {}, "gone")
        await until(lambda: reflector.lag() == 0.0, "not there any more")

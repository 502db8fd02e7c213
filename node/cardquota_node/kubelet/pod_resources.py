"""Which container has which device IDs, as the kubelet says."""

from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from pathlib import Path
from typing import Final, NamedTuple

from grpc import aio

from . import pod_resources_pb2 as wire

_LIST: Final = "/v1.PodResourcesLister/List"
_TIMEOUT: Final = 5.0
"""Seconds for one answer. The kubelet gives a container 30 s to start."""
_POD_TAG: Final = 0x0A
"""Field 1, with a length."""
_LONGEST: Final = 16 * 1024 * 1024
"""Bytes of an answer: a node may have 40,000 IDs."""


class PodResourcesError(Exception):
    """The kubelet does not say who owns device IDs; the text says why."""


class ContainerOwner(NamedTuple):
    """A container, and the device IDs of one resource that it owns."""

    namespace: str
    pod: str
    container: str
    ids: tuple[str, ...]
    """In no order."""

    @property
    def where(self) -> str:
        """Its pod, for people."""
        return f"pod <{self.namespace}/{self.pod}>"


class PodResources:
    """Asks the kubelet at each question: nothing is kept."""

    def __init__(self, socket: Path) -> None:
        self._target = f"unix:{socket}"

    async def containers(self, resource: str) -> list[ContainerOwner]:
        """All containers, of pods that are being admitted too, with what they own of a resource.
        Raises PodResourcesError.
        """
        return [
            owner
            for pod in await self._pods()
            for owner in _containers(pod, lambda devices: _ids(devices, resource))
        ]

    async def owners(self, resource: str) -> list[ContainerOwner]:
        """All containers that own IDs of a resource. Raises PodResourcesError."""
        return [one for one in await self.containers(resource) if one.ids]

    async def pod_of(self, resource: str, device: str) -> list[ContainerOwner]:
        """The containers that own IDs of a resource, of the pod that owns this one; empty: nobody
        does. Takes as long as that pod is large, and not as all are. Raises PodResourcesError.
        """
        for pod in await self._pods():
            if device.encode() in pod:
                owners = list(_containers(pod, lambda devices: _ids(devices, resource)))
                if any(device in one.ids for one in owners):
                    return [one for one in owners if one.ids]
        return []

    async def unserved(self, resource: str) -> tuple[set[tuple[str, str]], list[ContainerOwner]]:
        """The namespaces and names of all pods, and the containers that own no ID of a resource.
        Raises PodResourcesError.
        """
        found = [
            owner
            for pod in await self._pods()
            for owner in _containers(pod, lambda devices: _first_id(devices, resource))
        ]
        return {one[:2] for one in found}, [one for one in found if not one.ids]

    async def _pods(self) -> Iterable[bytes]:
        """A message of each pod."""
        options = (("grpc.max_receive_message_length", _LONGEST),)
        async with aio.insecure_channel(self._target, options=options) as channel:
            ask = channel.unary_unary(
                _LIST,
                request_serializer=wire.ListPodResourcesRequest.SerializeToString,
                response_deserializer=bytes,
            )
            try:
                return _by_pod(await ask(wire.ListPodResourcesRequest(), timeout=_TIMEOUT))
            except aio.AioRpcError as error:
                raise PodResourcesError(
                    f"the kubelet does not say who has which device: {error.details()}"
                ) from None


def _by_pod(text: bytes) -> Iterator[bytes]:
    """A `ListPodResourcesResponse` as one for each pod: a node may have 40,000 IDs, each in a
    message of its own.

    Messages that stand one behind the other are one, so one can be taken apart into those of its
    pods: a tag, the length in seven bits a byte, and so many bytes. What is none stays together.
    """
    at = 0
    while at < len(text) and text[at] == _POD_TAG:
        length, shift, end = 0, 0, at + 1
        while True:
            length |= (text[end] & 0x7F) << shift
            shift, end = shift + 7, end + 1
            if text[end - 1] < 0x80:
                break
        yield text[at : end + length]
        at = end + length
    if at < len(text):
        yield text[at:]


def _containers(
    text: bytes, ids: Callable[[Iterable[wire.ContainerDevices]], Iterable[str]]
) -> Iterator[ContainerOwner]:
    for pod in wire.ListPodResourcesResponse.FromString(text).pod_resources:
        for container in pod.containers:
            found = tuple(ids(container.devices))
            yield ContainerOwner(pod.namespace, pod.name, container.name, found)


def _ids(devices: Iterable[wire.ContainerDevices], resource: str) -> Iterator[str]:
    """A kubelet has an entry for each ID."""
    for one in devices:
        if one.resource_name == resource:
            yield from one.device_ids


def _first_id(devices: Iterable[wire.ContainerDevices], resource: str) -> Iterator[str]:
    return islice(_ids(devices, resource), 1)

"""Which container has which device IDs, as the kubelet says."""

from collections.abc import Iterator
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


class PodResources:
    """Asks the kubelet at each question: nothing is kept."""

    def __init__(self, socket: Path) -> None:
        self._target = f"unix:{socket}"

    async def owners(self, resource: str) -> list[ContainerOwner]:
        """All containers that own IDs of a resource. Raises PodResourcesError."""
        return [one for one in await self.containers(resource) if one.ids]

    async def containers(self, resource: str) -> list[ContainerOwner]:
        """All containers, of pods that are being admitted too, with what they own of a resource.
        Raises PodResourcesError.
        """
        options = (("grpc.max_receive_message_length", _LONGEST),)
        async with aio.insecure_channel(self._target, options=options) as channel:
            ask = channel.unary_unary(
                _LIST,
                request_serializer=wire.ListPodResourcesRequest.SerializeToString,
                response_deserializer=lambda text: _containers(text, resource),
            )
            try:
                return await ask(wire.ListPodResourcesRequest(), timeout=_TIMEOUT)
            except aio.AioRpcError as error:
                raise PodResourcesError(
                    f"the kubelet does not say who has which device: {error.details()}"
                ) from None


def _containers(text: bytes, resource: str) -> list[ContainerOwner]:
    """Of a `ListPodResourcesResponse`, a pod after the other: 40,000 IDs, each in a message of its
    own, would be a tenth of the agent's memory.
    """
    return [
        one
        for part in _pods(text)
        for pod in wire.ListPodResourcesResponse.FromString(part).pod_resources
        for one in _of_pod(pod, resource)
    ]


def _pods(text: bytes) -> Iterator[bytes]:
    """Messages that stand one behind the other are one, so one can be taken apart into those of its
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


def _of_pod(pod: wire.PodResources, resource: str) -> Iterator[ContainerOwner]:
    for container in pod.containers:
        # A kubelet has an entry for each ID.
        ids = tuple(
            one
            for devices in container.devices
            if devices.resource_name == resource
            for one in devices.device_ids
        )
        yield ContainerOwner(pod.namespace, pod.name, container.name, ids)

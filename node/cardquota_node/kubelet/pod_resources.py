"""Which container has which device IDs, as the kubelet says."""

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Final, NamedTuple

from grpc import aio

from . import pod_resources_pb2 as wire

_LIST: Final = "/v1.PodResourcesLister/List"
_TIMEOUT: Final = 5.0
"""Seconds for one answer. The kubelet gives a container 30 s to start."""
_LONGEST: Final = 16 * 1024 * 1024
"""Bytes of an answer: a node may have 40,000 IDs."""


class PodResourcesError(Exception):
    """The kubelet does not say who owns device IDs; the text says why."""


class ContainerOwner(NamedTuple):
    """A container, and the device IDs of one resource that it owns."""

    namespace: str
    pod: str
    container: str
    ids: Sequence[str]
    """In no order. A text is made of each as it is read: a node may have 40,000."""


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
                response_deserializer=wire.ListPodResourcesResponse.FromString,
            )
            try:
                answer = await ask(wire.ListPodResourcesRequest(), timeout=_TIMEOUT)
            except aio.AioRpcError as error:
                raise PodResourcesError(
                    f"the kubelet does not say who has which device: {error.details()}"
                ) from None
        return list(_owners(answer.pod_resources, resource))


def _owners(pods: Iterable[wire.PodResources], resource: str) -> Iterator[ContainerOwner]:
    for pod in pods:
        for container in pod.containers:
            # One entry at most: the kubelet splits by NUMA nodes, and nothing is said of these.
            ids = (one.device_ids for one in container.devices if one.resource_name == resource)
            yield ContainerOwner(pod.namespace, pod.name, container.name, next(ids, ()))

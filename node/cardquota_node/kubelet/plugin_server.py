"""The device plugin server of one resource: what the kubelet asks, and how it is answered.

The kubelet asks in this order: what the resource can do, the list of devices (a stream that goes on
as long as the server), and then for each container which of the free IDs are preferred, what the
container gets (`Allocate`), and, before each of its starts, whether all is ready
(`PreStartContainer`). It may ask the last more than once for one start.
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Sequence
from itertools import islice
from pathlib import Path
from typing import Any, Final, NamedTuple, Protocol

import grpc
from grpc import aio

from . import device_plugin_pb2 as wire

_SERVICE: Final = "v1beta1.DevicePlugin"
HEALTHY: Final = "Healthy"
UNHEALTHY: Final = "Unhealthy"
_LONGEST: Final = 16 * 1024 * 1024
"""Bytes of a question: a container may have thousands of IDs."""
_AT_A_TIME: Final = 1_000
"""Devices that are messages at the same time."""


class RefusedError(Exception):
    """A container does not get what it asks for; the text says why. The kubelet shows it."""


class OfferedDevice(NamedTuple):
    """One device ID, at most 63 characters."""

    id: str
    healthy: bool


class DeviceResource(Protocol):
    """What one resource offers, and what a container gets."""

    @property
    def name(self) -> str:
        """Of the resource: `<domain>/<name>`."""

    def offered(self) -> Iterable[OfferedDevice]:
        """All devices, as they are now."""

    async def preferred(
        self, available: Sequence[str], required: Sequence[str], size: int
    ) -> Sequence[str]:
        """So many of the available IDs, with all that are required."""

    async def allocate(self, ids: Sequence[str]) -> wire.ContainerAllocateResponse:
        """What the container gets that has these IDs. Raises RefusedError."""

    async def pre_start(self, ids: Sequence[str]) -> None:
        """Make all ready for the container that has these IDs; may be asked again and again.
        Raises RefusedError.
        """


OPTIONS: Final = wire.DevicePluginOptions(
    pre_start_required=True, get_preferred_allocation_available=True
)


class PluginServer:
    """Answers the kubelet on a socket of its own."""

    def __init__(self, resource: DeviceResource, socket: Path, log: Callable[[str], None]) -> None:
        """`log`: is told what was refused."""
        self._resource, self._socket, self._log = resource, socket, log
        self._server: aio.Server | None = None
        self._changed = asyncio.Event()

    async def start(self) -> None:
        """Listen, in the place of whoever has left the socket."""
        self._socket.unlink(missing_ok=True)
        server = aio.server(options=(("grpc.max_receive_message_length", _LONGEST),))
        handlers = grpc.method_handlers_generic_handler(_SERVICE, self._handlers())
        server.add_generic_rpc_handlers((handlers,))
        server.add_insecure_port(f"unix:{self._socket}")
        self._changed = asyncio.Event()
        await server.start()
        self._server = server

    async def stop(self) -> None:
        """Answer nobody any more. Questions that are asked now end."""
        if self._server is not None:
            await self._server.stop(grace=None)
            self._server = None

    def changed(self) -> None:
        """Other devices are offered, or their health has changed: the kubelet is told."""
        self._changed.set()

    def _handlers(self) -> "dict[str, grpc.RpcMethodHandler[Any, Any]]":
        def one(answer: Callable[[Any, Any], Awaitable[Any]], asked: Any) -> Any:
            return grpc.unary_unary_rpc_method_handler(
                answer,
                request_deserializer=asked.FromString,
                response_serializer=lambda found: found.SerializeToString(),
            )

        return {
            "GetDevicePluginOptions": one(self._options, wire.Empty),
            "ListAndWatch": grpc.unary_stream_rpc_method_handler(
                self._list_and_watch,
                request_deserializer=wire.Empty.FromString,
                response_serializer=lambda found: found,
            ),
            "GetPreferredAllocation": one(self._preferred, wire.PreferredAllocationRequest),
            "Allocate": one(self._allocate, wire.AllocateRequest),
            "PreStartContainer": one(self._pre_start, wire.PreStartContainerRequest),
        }

    async def _options(self, _: object, __: object) -> wire.DevicePluginOptions:
        return OPTIONS

    async def _list_and_watch(self, _: object, __: object) -> AsyncIterator[bytes]:
        while True:
            self._changed.clear()
            yield _serialized(self._resource.offered())
            await self._changed.wait()

    async def _preferred(
        self, asked: wire.PreferredAllocationRequest, _: object
    ) -> wire.PreferredAllocationResponse:
        return wire.PreferredAllocationResponse(
            container_responses=[
                wire.ContainerPreferredAllocationResponse(
                    deviceIDs=await self._resource.preferred(
                        one.available_deviceIDs, one.must_include_deviceIDs, one.allocation_size
                    )
                )
                for one in asked.container_requests
            ]
        )

    async def _allocate(
        self, asked: wire.AllocateRequest, context: "aio.ServicerContext[Any, Any]"
    ) -> wire.AllocateResponse:
        try:
            return wire.AllocateResponse(
                container_responses=[
                    await self._resource.allocate(one.devices_ids)
                    for one in asked.container_requests
                ]
            )
        except RefusedError as error:
            self._log(f"refused: {error}")
            await context.abort(grpc.StatusCode.FAILED_PRECONDITION, str(error))

    async def _pre_start(
        self, asked: wire.PreStartContainerRequest, context: "aio.ServicerContext[Any, Any]"
    ) -> wire.PreStartContainerResponse:
        try:
            await self._resource.pre_start(asked.devices_ids)
        except RefusedError as error:
            self._log(f"not started: {error}")
            await context.abort(grpc.StatusCode.FAILED_PRECONDITION, str(error))
        return wire.PreStartContainerResponse()


def _serialized(offered: Iterable[OfferedDevice]) -> bytes:
    """A `ListAndWatchResponse`, a part after the other: messages that stand one behind the other
    are one. 40,000 devices as messages would be a fifth of the agent's memory.
    """
    left, text = iter(offered), bytearray()
    while part := list(islice(left, _AT_A_TIME)):
        devices = [
            wire.Device(ID=one.id, health=HEALTHY if one.healthy else UNHEALTHY) for one in part
        ]
        text += wire.ListAndWatchResponse(devices=devices).SerializeToString()
    return bytes(text)

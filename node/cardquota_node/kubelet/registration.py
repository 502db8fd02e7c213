"""Keeps a resource registered at the kubelet, whoever of the two is started again.

A kubelet that starts deletes all sockets of its folder and makes its own anew. Nobody is told, so
both sockets are looked at, some times a second: one look is two system calls.
"""

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Final, NamedTuple

from grpc import aio

from . import device_plugin_pb2 as wire
from .plugin_server import OPTIONS, PluginServer

FOLDER: Final = Path("/var/lib/kubelet/device-plugins")
"""Of the sockets; the same whatever the kubelet's own folder is."""
_REGISTER: Final = "/v1beta1.Registration/Register"
_VERSION: Final = "v1beta1"
_LOOK: Final = 0.25
"""Seconds between two looks."""
_AGAIN: Final = 1.0
"""Seconds until it is tried again to register."""
_TIMEOUT: Final = 10.0
"""Seconds for an answer: the kubelet calls back before it gives one."""


class KubeletSocket(NamedTuple):
    """The kubelet's socket of one of its lives."""

    inode: int
    made: int
    """Nanoseconds."""

    @classmethod
    def at(cls, folder: Path) -> "KubeletSocket | None":
        """None: the kubelet has none now."""
        try:
            found = (folder / "kubelet.sock").stat()
        except OSError:
            return None
        return cls(found.st_ino, found.st_ctime_ns)


async def serve(
    server: PluginServer,
    name: str,
    endpoint: str,
    log: Callable[[str], None],
    folder: Path = FOLDER,
) -> None:
    """Serve a resource until cancelled. `name`: of the resource; `endpoint`: of the server's socket
    in the folder. Never gives up: a kubelet that is not there is waited for.
    """
    told = ""
    while True:
        kubelet = KubeletSocket.at(folder)
        try:
            await server.start()
            await _register(folder, name, endpoint)
        except (_NotRegisteredError, OSError, RuntimeError) as error:
            await server.stop()
            text = "it has no socket" if kubelet is None else str(error)
            if text != told:
                told = text
                log(f"{name} waits for the kubelet in {folder}: {told}")
            await asyncio.sleep(_AGAIN)
            continue
        told = ""
        log(f"{name} is registered at the kubelet")
        try:
            # Nobody tells when they change.
            while KubeletSocket.at(folder) == kubelet and (folder / endpoint).exists():  # noqa: ASYNC110
                await asyncio.sleep(_LOOK)
        finally:
            await server.stop()
        log(f"{name}: the kubelet has started again")


class _NotRegisteredError(Exception):
    """The text says why."""


async def _register(folder: Path, name: str, endpoint: str) -> None:
    asked = wire.RegisterRequest(
        version=_VERSION, endpoint=endpoint, resource_name=name, options=OPTIONS
    )
    async with aio.insecure_channel(f"unix:{folder / 'kubelet.sock'}") as channel:
        register = channel.unary_unary(
            _REGISTER,
            request_serializer=wire.RegisterRequest.SerializeToString,
            response_deserializer=wire.Empty.FromString,
        )
        try:
            await register(asked, timeout=_TIMEOUT)
        except aio.AioRpcError as error:
            raise _NotRegisteredError(error.details() or error.code().name) from None

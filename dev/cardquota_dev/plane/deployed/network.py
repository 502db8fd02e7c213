"""A network namespace for one plane: its pods have addresses there, and this machine none of them.

Of this machine the plane has one port, that of its API server: what comes there is passed on. The
namespace ends with the last process of the plane.
"""

import asyncio
import ctypes
import fcntl
import os
import socket
import struct
from typing import Final

from ...failure import PlaneError
from ..copying import copied
from ..ports import free_ports

SERVICE: Final = "10.0.0.1"
"""Where pods find the API server, and the address of the node: the first of the services'."""

_LOOPBACK: Final = "127.0.0.1"
_HTTPS: Final = 443
_NEW_NETWORK: Final = 0x4000_0000
"""CLONE_NEWNET."""
_SET_ADDRESS: Final = 0x8916
_SET_FLAGS: Final = 0x8914
_UP: Final = 1


class Network:
    """A way into the namespace, and in it the way of pods to the API server."""

    def __init__(self) -> None:
        """Go into a new namespace, with all processes that are started from now on."""
        (self.port,) = free_ports(1)
        """The API server's, here and on this machine."""
        self._outside = socket.create_server((_LOOPBACK, self.port))
        if ctypes.CDLL(None, use_errno=True).unshare(_NEW_NETWORK) != 0:
            raise PlaneError(f"no network namespace: {os.strerror(ctypes.get_errno())}")
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as control:
            fcntl.ioctl(control, _SET_FLAGS, struct.pack("16sh14x", b"lo", _UP))
            address = struct.pack(
                "16sHH4s8x", b"lo:1", socket.AF_INET, 0, socket.inet_aton(SERVICE)
            )
            fcntl.ioctl(control, _SET_ADDRESS, address)
        self._servers: list[asyncio.Server] = []

    async def open(self) -> None:
        """Pass on what comes, from now on."""
        self._servers = [
            await asyncio.start_server(self._serve, sock=self._outside),
            await asyncio.start_server(self._serve, SERVICE, _HTTPS),
        ]

    def close(self) -> None:
        """Let no more in."""
        for server in self._servers:
            server.close()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            opened = await asyncio.open_connection(_LOOPBACK, self.port)
            await copied(reader, writer, *opened)
        except OSError:
            pass  # the API server does not listen now
        finally:
            writer.close()

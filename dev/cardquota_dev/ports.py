"""Free TCP ports on loopback.

They are taken from below the range that the kernel hands out to outgoing connections, so that a
busy machine does not take one away between choosing and binding. Not a reservation: two planes
that start in the same instant could in theory choose the same.
"""

import random
import socket

from .failure import PlaneError

_RANGE = range(20_000, 32_000)
_TRIES = 200


def free_ports(count: int) -> list[int]:
    """That many different ports that nobody listens on."""
    found: list[int] = []
    for port in random.sample(_RANGE, _TRIES):
        if len(found) == count:
            break
        with socket.socket() as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind(("127.0.0.1", port))
            except OSError:
                continue
        found.append(port)
    if len(found) < count:
        raise PlaneError("no free ports on 127.0.0.1")
    return found

"""Free TCP ports on loopback.

They are below the range that the kernel uses for outgoing connections, so that a busy machine does
not take one between choosing and binding, which may be many seconds later. They are not reserved.
But each process begins in a part of the range that others hardly use, and does not repeat its
recent choices, so planes that start at the same time keep apart.
"""

import os
import random
import socket
from collections import deque
from typing import Final

from ..failure import PlaneError

_RANGE: Final = range(20_000, 32_000)
_PART: Final = 100
"""Ports that a process tries first."""
_TRIES: Final = 200
"""Ports of the whole range that it tries next."""
_lately: Final = deque[int](maxlen=_PART // 2)


def free_ports(count: int) -> list[int]:
    """That many different ports without a listener."""
    found: list[int] = []
    begin = os.getpid() * _PART % len(_RANGE)
    first = random.sample(_RANGE[begin : begin + _PART], _PART)
    for port in (*first, *random.sample(_RANGE, _TRIES)):
        if len(found) == count:
            break
        if port not in found and port not in _lately and is_free(port):
            found.append(port)
    if len(found) < count:
        raise PlaneError("no free ports on 127.0.0.1")
    _lately.extend(found)
    return found


def is_free(port: int) -> bool:
    """Whether nobody listens on a port of 127.0.0.1, just now."""
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            return False
    return True

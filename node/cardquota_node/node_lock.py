"""One agent of a node at a time: two would answer the kubelet by turns, and remove each other's
sockets. A lock that ends with its process, however that ends (K4).
"""

import asyncio
import fcntl
import io
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Final

_FILE: Final = "cardquota-node.lock"
_AGAIN: Final = 0.5
"""Seconds between two tries."""


@asynccontextmanager
async def node_lock(folder: Path, log: Callable[[str], None]) -> AsyncIterator[None]:
    """Held for the block; another agent that holds it is waited for. `folder`: where all agents of
    the node write, and nothing is removed when the kubelet starts. Raises OSError.
    """
    with _opened(folder / _FILE) as file:
        told = False
        while True:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                if not told:
                    log(f"another agent serves this node: it holds {folder / _FILE}")
                told = True
                await asyncio.sleep(_AGAIN)
        yield


def _opened(path: Path) -> io.TextIOWrapper:
    path.parent.mkdir(parents=True, exist_ok=True)
    return path.open("w")

"""An exclusive lock between processes, by a file.

Guarantees: at most one holder at a time; it ends with its last holder, however that died; a
process that inherits the descriptor holds it too. It does not guard against a file system that
has no flock.
"""

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


def acquire(path: Path, *, wait: bool) -> int | None:
    """The descriptor that holds the lock, or None where somebody else does and we do not wait."""
    while True:
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
        except BlockingIOError:
            os.close(descriptor)
            return None
        except BaseException:
            os.close(descriptor)
            raise
        if _still_there(path, descriptor):
            return descriptor
        os.close(descriptor)  # removed while we waited: lock the one that is there now


def held(path: Path) -> bool:
    """Whether somebody holds it right now."""
    if not path.exists():
        return False
    descriptor = acquire(path, wait=False)
    if descriptor is None:
        return True
    os.close(descriptor)
    return False


@contextmanager
def exclusive(path: Path) -> Iterator[None]:
    """Hold the lock for the block, waiting for it."""
    descriptor = acquire(path, wait=True)
    try:
        yield
    finally:
        if descriptor is not None:
            os.close(descriptor)


def _still_there(path: Path, descriptor: int) -> bool:
    try:
        there = path.stat()
    except FileNotFoundError:
        return False
    ours = os.fstat(descriptor)
    return (there.st_dev, there.st_ino) == (ours.st_dev, ours.st_ino)

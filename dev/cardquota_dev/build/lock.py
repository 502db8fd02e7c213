"""An exclusive lock between processes, by a file.

Guarantees: at most one holder at a time. The lock ends with its last holder, however that dies. A
process that inherits the descriptor holds it too. Not guaranteed on a file system without flock.
"""

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


def acquire(path: Path, *, wait: bool) -> int | None:
    """The descriptor that holds the lock. None if another holds it and we do not wait."""
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
        os.close(descriptor)  # removed while we waited: lock the present file


def held(path: Path) -> bool:
    """Whether the lock is held now."""
    if not path.exists():
        return False
    descriptor = acquire(path, wait=False)
    if descriptor is None:
        return True
    os.close(descriptor)
    return False


@contextmanager
def exclusive(path: Path) -> Iterator[None]:
    """Wait for the lock, and hold it for the block."""
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

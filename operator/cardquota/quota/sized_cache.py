"""A cache with a bound in bytes, for keys or values that users write (P8).

`functools.lru_cache` bounds only the number of entries, which is no bound if arguments have any
size. It is used where arguments are short by themselves.
"""

from collections.abc import Hashable
from typing import Final, Generic, TypeVar

from .limits import KIB

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")

_ENTRY: Final = 200
"""Bytes of an entry besides what it holds."""


class SizedCache(Generic[K, V]):
    """Two generations of entries. When the younger one is full, the older one is dropped whole.

    Guarantee: the given sizes, and a fixed amount for each entry, are at most `most` bytes.
    Not guaranteed: that anything is remembered. What was used recently usually is.
    """

    __slots__ = ("_half", "_old", "_size", "_young")

    def __init__(self, most: int = 1024 * KIB) -> None:
        self._half = most // 2
        self._young: dict[K, V] = {}
        self._old: dict[K, V] = {}
        self._size = 0

    def __len__(self) -> int:
        return len(self._young) + len(self._old)

    def get(self, key: K) -> V | None:
        """The value, or None."""
        found = self._young.get(key)
        return found if found is not None else self._old.get(key)

    def put(self, key: K, value: V, size: int) -> V:
        """Remember a value, never None; `size`: bytes of key and value. Returns the value."""
        size += _ENTRY
        if size > self._half:
            return value
        if self._size + size > self._half:
            self._old, self._young, self._size = self._young, {}, 0
        self._young[key] = value
        self._size += size
        return value

    def clear(self) -> None:
        """Forget everything."""
        self._young, self._old, self._size = {}, {}, 0

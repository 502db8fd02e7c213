"""A memory of answers with a bound in bytes: for what users write, as keys or as values (P8).

`functools.lru_cache` bounds the number of entries alone: with arguments of any size that is no
bound. It stays where arguments are short by themselves.
"""

from collections.abc import Hashable
from typing import Final, Generic, TypeVar

from .limits import KIB

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")

_ENTRY: Final = 200
"""Bytes that an entry costs beside what it holds."""


class SizedCache(Generic[K, V]):
    """Two generations of entries; the older one goes as a whole when the younger is full.

    Guarantee: the sizes told, and a fixed amount for each entry, are `most` bytes at most.
    Not guaranteed: that anything is remembered. What was asked for lately is, as a rule.
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

"""Bounds in bytes of what is kept (P8): of the objects of one kind, in all and of one namespace,
and of a cache.

Each object has its own limits, but nothing bounds their number. So each counts with the bytes that
are kept of it. Beyond the bound only a name is kept of an object, until there is room again.

`functools.lru_cache` bounds only the number of entries, which is no bound if arguments have any
size. It is used where arguments are short by themselves.
"""

from collections.abc import Hashable
from itertools import islice
from sys import intern, maxsize
from typing import Final, NamedTuple, TypeVar

from .limits import KIB, Excess, Limit

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")

_ENTRY: Final = 200
"""Bytes of an entry besides what it holds."""


class SizedCache(dict[K, V]):
    """Entries that are put are forgotten, all at once, before they are too many.

    Guarantee: the given sizes, and a fixed amount for each entry, are at most `most` bytes.
    Not guaranteed: that anything is remembered. What was used recently usually is.
    """

    __slots__ = ("_most", "_size")

    def __init__(self, most: int = 1024 * KIB) -> None:
        super().__init__()
        self._most, self._size = most, 0

    def put(self, key: K, value: V, size: int) -> V:
        """Remember a value, never None; `size`: bytes of key and value. Returns the value."""
        size += _ENTRY
        if size > self._most // 2:
            return value  # it would drive out too much
        if self._size + size > self._most:
            self.clear()
        self[key] = value
        self._size += size
        return value

    def clear(self) -> None:
        """Forget everything."""
        super().clear()
        self._size = 0


_LOOKED_AT: Final = 2_000
"""Left-out objects that are looked at, one time, to find some for which there is room, or one of
each namespace."""

_WITHOUT: Final = Limit("", maxsize)


class LeftOut(NamedTuple):
    """An object of which nothing else is kept."""

    namespace: str
    name: str
    uid: str
    revision: int
    size: int
    """Bytes that would be kept of it."""
    queue: str = ""
    """The queue that it would be in."""
    made_by: tuple[str, str] = ("", "")
    """Kind and name of a pod's workload."""


class KeptObjects:
    """The sizes of the objects of one kind that are kept, and the names of those that are not.

    Guarantee: what was counted in by `keep` is never more than the limits. A left-out object takes
    some 500 bytes, and those of a queue's name. Not guaranteed: that what was left out first is
    read first.
    """

    def __init__(self, together: Limit, of_one: Limit, *, bounded: bool = True) -> None:
        """`together`: of all namespaces; `of_one`: of each; without `bounded` they do not hold."""
        self._limits = (of_one, together) if bounded else (_WITHOUT, _WITHOUT)
        self.total = 0
        """Bytes of all that are kept."""
        self.sizes: dict[str, int] = {}
        """By namespace: bytes of those that are kept there."""
        self._kept: dict[str, tuple[str, int]] = {}
        """By key: the namespace and the bytes of those that are kept."""
        self._left_out: dict[str, LeftOut] = {}
        """By key."""
        self._turns: dict[str, dict[str, None]] = {}
        """By namespace: the keys of those. Both in the order in which it is their turn."""
        self._wanted: dict[str, None] = {}
        """Keys of those that are read again, whether there is room or not."""
        self._news: dict[str, None] | None = None
        """Keys that were left out and of which nobody was told; None: nobody asks."""

    def too_much(self, key: str, namespace: str, size: int) -> Excess | None:
        """The limit that would be exceeded if so much of an object were kept."""
        more = size - self._kept.get(key, ("", 0))[1]
        found = self.sizes.get(namespace, 0) + more, self.total + more
        for limit, size in zip(self._limits, found, strict=True):
            if more > 0 and size > limit.most:
                return Excess(limit, size)
        return None

    def keep(self, key: str, namespace: str, size: int) -> Excess | None:
        """Count an object in, or say why it may not be kept; then it is not counted any more."""
        excess = self.too_much(key, namespace, size)
        if excess is None or key not in self._left_out:
            self.forget(key)
        if excess is None:
            namespace = intern(namespace)
            self._kept[key] = namespace, size
            self.total += size
            self.sizes[namespace] = self.sizes.get(namespace, 0) + size
        return excess

    def leave_out(self, key: str, found: LeftOut) -> None:
        """Keep only this of an object that `keep` has not counted in."""
        self._wanted.pop(key, None)
        if self._news is not None and key not in self._left_out:
            self._news[key] = None
        self._left_out[key] = found
        self._turns.setdefault(found.namespace, {})[key] = None

    def forget(self, key: str) -> None:
        """An object is gone, or is kept whatever the limits say. May be called again."""
        namespace, size = self._kept.pop(key, ("", 0))
        if size:
            self.total -= size
            self.sizes[namespace] -= size
            if not self.sizes[namespace]:
                del self.sizes[namespace]
        elif (left_out := self._left_out.pop(key, None)) is not None:
            del self._turns[left_out.namespace][key]
            if not self._turns[left_out.namespace]:
                del self._turns[left_out.namespace]
            self._wanted.pop(key, None)
            if self._news is not None:
                self._news.pop(key, None)

    def left_out(self, key: str) -> LeftOut | None:
        """What is kept of an object that was left out."""
        return self._left_out.get(key)

    def left_out_of(self, namespace: str) -> list[LeftOut]:
        """Those of a namespace."""
        return [self._left_out[key] for key in self._turns.get(namespace, ())]

    def left_out_in(self, queue: str) -> list[LeftOut]:
        """Those in a queue. Costs a step for each that is left out."""
        return [one for one in self._left_out.values() if one.queue == queue]

    @property
    def number_left_out(self) -> int:
        """How many objects are left out."""
        return len(self._left_out)

    def want(self, key: str) -> None:
        """Have an object read again although there is no room, if it was left out."""
        if key in self._left_out:
            self._wanted[key] = None

    def to_read(self, most: int) -> list[tuple[str, LeftOut]]:
        """Keys, and what is kept, of some of the left-out objects for which there is room now, or
        that are wanted: of each namespace as many. Whoever was looked at goes behind the others.
        """
        found = [(key, self._left_out[key]) for key in islice(self._wanted, most)]
        number, total = max(1, len(self._turns)), self.total
        of_one, together = (limit.most for limit in self._limits)
        share, looks = max(1, most // number), max(1, _LOOKED_AT // number)
        for namespace in list(islice(self._turns, _LOOKED_AT)):
            if len(found) >= most:
                break
            enough = min(most, len(found) + share)
            keys = self._turns[namespace] = self._turns.pop(namespace)
            size = self.sizes.get(namespace, 0)
            for key in list(islice(keys, looks)):
                if len(found) >= enough:
                    break
                keys[key] = keys.pop(key)
                one = self._left_out[key]
                if size + one.size <= of_one and total + one.size <= together:
                    size, total = size + one.size, total + one.size
                    found.append((key, one))
        return found

    def ask(self, *, asked: bool) -> None:
        """Whether somebody tells of what is left out from now on: first of all that is."""
        self._news = dict.fromkeys(self._left_out) if asked else None

    def take_news(self, most: int) -> list[LeftOut]:
        """Some objects that were left out and of which nobody was told. They count as told."""
        keys = list(islice(self._news or (), most))
        for key in keys:
            (self._news or {}).pop(key)
        return [self._left_out[key] for key in keys]

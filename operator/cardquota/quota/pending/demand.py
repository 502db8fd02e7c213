"""The inadmissible classes that wait for one dimension, and how much of it each needs.

There may be thousands with different needs. They are kept in the order of release, in blocks that
know their smallest need: a block without enough room is skipped whole.
"""

from bisect import bisect_left, bisect_right
from typing import Final

from .candidate import InadmissibleClass
from .release_key import ReleaseKey

MOST: Final = 512
"""Entries of a block. A larger block is cut in two."""


class Demand:
    """Inadmissible classes with their needs.

    Adding, removing or finding one costs by the entries of a block, and by the number of blocks:
    one, or a hundredth of the entries. How much the needs differ does not matter.
    """

    __slots__ = ("_blocks",)

    def __init__(self) -> None:
        self._blocks: list[_Block] = []
        """In the order of places. None is empty, and no two neighbours are small."""

    def __bool__(self) -> bool:
        return bool(self._blocks)

    @property
    def blocks(self) -> list[int]:
        """The entries of each block: what it costs to find one."""
        return [len(block.keys) for block in self._blocks]

    def put(self, key: ReleaseKey, need: int, inadmissible: InadmissibleClass) -> None:
        """Add a class. No other has its place."""
        blocks = self._blocks
        if not blocks:
            blocks.append(_Block([key], [need], [inadmissible]))
            return
        index = min(bisect_left(blocks, key, key=_last), len(blocks) - 1)
        block = blocks[index]
        block.put(key, need, inadmissible)
        if len(block.keys) > MOST:
            blocks[index : index + 1] = block.halves()

    def take(self, key: ReleaseKey) -> None:
        """The inverse of `put`."""
        blocks = self._blocks
        index = bisect_left(blocks, key, key=_last)
        blocks[index].take(key)
        if not blocks[index].keys:
            del blocks[index]
            return
        for left in (index - 1, index):
            pair = blocks[max(0, left) : left + 2]
            if len(pair) == 2 and len(pair[0].keys) + len(pair[1].keys) <= MOST // 2:
                blocks[left : left + 2] = [pair[0].joined(pair[1])]
                return

    def first(
        self, room: int, after: ReleaseKey | None
    ) -> tuple[ReleaseKey, InadmissibleClass] | None:
        """The first class after a place that needs no more than `room`."""
        blocks = self._blocks
        begin = bisect_right(blocks, after, key=_last) if after else 0
        for index in range(begin, len(blocks)):
            if blocks[index].least <= room:
                found = blocks[index].first(room, after)
                if found is not None:
                    return found
        return None


class _Block:
    """Consecutive entries."""

    __slots__ = ("entries", "keys", "least", "needs")

    def __init__(
        self, keys: list[ReleaseKey], needs: list[int], entries: list[InadmissibleClass]
    ) -> None:
        self.keys = keys
        self.needs = needs
        self.entries = entries
        self.least = min(needs)

    def put(self, key: ReleaseKey, need: int, inadmissible: InadmissibleClass) -> None:
        place = bisect_left(self.keys, key)
        self.keys.insert(place, key)
        self.needs.insert(place, need)
        self.entries.insert(place, inadmissible)
        self.least = min(self.least, need)

    def take(self, key: ReleaseKey) -> None:
        place = bisect_left(self.keys, key)
        need = self.needs[place]
        del self.keys[place], self.needs[place], self.entries[place]
        if need == self.least and self.needs:
            self.least = min(self.needs)

    def first(
        self, room: int, after: ReleaseKey | None
    ) -> tuple[ReleaseKey, InadmissibleClass] | None:
        for place in range(bisect_right(self.keys, after) if after else 0, len(self.keys)):
            if self.needs[place] <= room:
                return self.keys[place], self.entries[place]
        return None

    def halves(self) -> "list[_Block]":
        half = len(self.keys) // 2
        return [
            _Block(self.keys[part], self.needs[part], self.entries[part])
            for part in (slice(half), slice(half, None))
        ]

    def joined(self, other: "_Block") -> "_Block":
        """A block of the entries of both."""
        return _Block(
            self.keys + other.keys, self.needs + other.needs, self.entries + other.entries
        )


def _last(block: _Block) -> ReleaseKey:
    return block.keys[-1]

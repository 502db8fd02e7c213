"""The inadmissible classes that wait for one dimension, and how much of it each needs.

There may be thousands with different needs. They are kept in the order of release, in blocks that
know their smallest need: a block without enough room is skipped whole.
"""

from bisect import bisect_left, bisect_right
from typing import Final

from ..pods.pod_record import SortKey
from .candidate import InadmissibleClass

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
        """In the order of sort keys. None is empty, and no two neighbours are small."""

    def __bool__(self) -> bool:
        return bool(self._blocks)

    @property
    def blocks(self) -> list[int]:
        """The entries of each block: what it costs to find one."""
        return [len(block.sort_keys) for block in self._blocks]

    def put(self, sort_key: SortKey, need: int, inadmissible: InadmissibleClass) -> None:
        """Add a class. No other has its sort key."""
        blocks = self._blocks
        if not blocks:
            blocks.append(_Block([sort_key], [need], [inadmissible]))
            return
        index = min(bisect_left(blocks, sort_key, key=_last), len(blocks) - 1)
        block = blocks[index]
        block.put(sort_key, need, inadmissible)
        if len(block.sort_keys) > MOST:
            blocks[index : index + 1] = block.halves()

    def take(self, sort_key: SortKey) -> None:
        """The inverse of `put`."""
        blocks = self._blocks
        index = bisect_left(blocks, sort_key, key=_last)
        blocks[index].take(sort_key)
        if not blocks[index].sort_keys:
            del blocks[index]
            return
        for left in (index - 1, index):
            pair = blocks[max(0, left) : left + 2]
            if len(pair) == 2 and len(pair[0].sort_keys) + len(pair[1].sort_keys) <= MOST // 2:
                blocks[left : left + 2] = [pair[0].joined(pair[1])]
                return

    def first(self, room: int, after: SortKey | None) -> tuple[SortKey, InadmissibleClass] | None:
        """The first class after a sort key that needs no more than `room`."""
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

    __slots__ = ("entries", "least", "needs", "sort_keys")

    def __init__(
        self, sort_keys: list[SortKey], needs: list[int], entries: list[InadmissibleClass]
    ) -> None:
        self.sort_keys = sort_keys
        self.needs = needs
        self.entries = entries
        self.least = min(needs)

    def put(self, sort_key: SortKey, need: int, inadmissible: InadmissibleClass) -> None:
        place = bisect_left(self.sort_keys, sort_key)
        self.sort_keys.insert(place, sort_key)
        self.needs.insert(place, need)
        self.entries.insert(place, inadmissible)
        self.least = min(self.least, need)

    def take(self, sort_key: SortKey) -> None:
        place = bisect_left(self.sort_keys, sort_key)
        need = self.needs[place]
        del self.sort_keys[place], self.needs[place], self.entries[place]
        if need == self.least and self.needs:
            self.least = min(self.needs)

    def first(self, room: int, after: SortKey | None) -> tuple[SortKey, InadmissibleClass] | None:
        for place in range(
            bisect_right(self.sort_keys, after) if after else 0, len(self.sort_keys)
        ):
            if self.needs[place] <= room:
                return self.sort_keys[place], self.entries[place]
        return None

    def halves(self) -> "list[_Block]":
        half = len(self.sort_keys) // 2
        return [
            _Block(self.sort_keys[part], self.needs[part], self.entries[part])
            for part in (slice(half), slice(half, None))
        ]

    def joined(self, other: "_Block") -> "_Block":
        """A block of the entries of both."""
        return _Block(
            self.sort_keys + other.sort_keys, self.needs + other.needs, self.entries + other.entries
        )


def _last(block: _Block) -> SortKey:
    return block.sort_keys[-1]

"""Who waits for one dimension, in the order of release, and how much of it each needs.

There may be thousands, each with another need. They stand in blocks that know the least that one
of theirs needs, so that a block for which there is no room is passed over as a whole.
"""

from bisect import bisect_left, bisect_right
from typing import Final

from .candidate import InadmissibleClass, SortKey

_MOST: Final = 512
"""Entries of a block; where there are more it is cut in two."""


class Demand:
    """Shelves with their needs. To put, take and ask costs by the entries of a block, and by the
    number of blocks, which are a hundredth of the entries or one; not by how different the needs
    are.
    """

    __slots__ = ("_blocks",)

    def __init__(self) -> None:
        self._blocks: list[_Block] = []
        """In the order of turns; none is empty, and no two neighbours are small."""

    def __bool__(self) -> bool:
        return bool(self._blocks)

    def put(self, turn: SortKey, need: int, shelf: InadmissibleClass) -> None:
        """One more, with a turn that no other has."""
        blocks = self._blocks
        if not blocks:
            blocks.append(_Block([turn], [need], [shelf]))
            return
        index = min(bisect_left(blocks, turn, key=_last), len(blocks) - 1)
        block = blocks[index]
        block.put(turn, need, shelf)
        if len(block.turns) > _MOST:
            blocks[index : index + 1] = block.halves()

    def take(self, turn: SortKey) -> None:
        """The inverse of `put`."""
        blocks = self._blocks
        index = bisect_left(blocks, turn, key=_last)
        blocks[index].take(turn)
        if not blocks[index].turns:
            del blocks[index]
            return
        for left in (index - 1, index):
            pair = blocks[max(0, left) : left + 2]
            if len(pair) == 2 and len(pair[0].turns) + len(pair[1].turns) <= _MOST // 2:
                blocks[left : left + 2] = [pair[0].joined(pair[1])]
                return

    def first(self, room: int, after: SortKey | None) -> tuple[SortKey, InadmissibleClass] | None:
        """The first after a turn that needs no more than this."""
        blocks = self._blocks
        begin = bisect_right(blocks, after, key=_last) if after else 0
        for index in range(begin, len(blocks)):
            if blocks[index].least <= room:
                found = blocks[index].first(room, after)
                if found is not None:
                    return found
        return None


class _Block:
    """Some that follow each other."""

    __slots__ = ("least", "needs", "shelves", "turns")

    def __init__(
        self, turns: list[SortKey], needs: list[int], shelves: list[InadmissibleClass]
    ) -> None:
        self.turns = turns
        self.needs = needs
        self.shelves = shelves
        self.least = min(needs)

    def put(self, turn: SortKey, need: int, shelf: InadmissibleClass) -> None:
        place = bisect_left(self.turns, turn)
        self.turns.insert(place, turn)
        self.needs.insert(place, need)
        self.shelves.insert(place, shelf)
        self.least = min(self.least, need)

    def take(self, turn: SortKey) -> None:
        place = bisect_left(self.turns, turn)
        need = self.needs[place]
        del self.turns[place], self.needs[place], self.shelves[place]
        if need == self.least and self.needs:
            self.least = min(self.needs)

    def first(self, room: int, after: SortKey | None) -> tuple[SortKey, InadmissibleClass] | None:
        for place in range(bisect_right(self.turns, after) if after else 0, len(self.turns)):
            if self.needs[place] <= room:
                return self.turns[place], self.shelves[place]
        return None

    def halves(self) -> "list[_Block]":
        half = len(self.turns) // 2
        return [
            _Block(self.turns[part], self.needs[part], self.shelves[part])
            for part in (slice(half), slice(half, None))
        ]

    def joined(self, other: "_Block") -> "_Block":
        """With the next one."""
        return _Block(
            self.turns + other.turns, self.needs + other.needs, self.shelves + other.shelves
        )


def _last(block: _Block) -> SortKey:
    return block.turns[-1]

"""The candidates of a queue that are to be tried whatever room there is, in their order."""

import heapq
from collections.abc import Iterator
from typing import Final

from .candidate import Candidate
from .release_key import ReleaseKey

_SLACK: Final = 64
"""Outdated entries that are allowed beyond twice the number of valid ones."""


class ActiveCandidates:
    """A heap, filled bit by bit: only a replica that decides puts them in order."""

    __slots__ = ("_candidates", "_entries", "_order", "unordered")

    def __init__(self) -> None:
        self._candidates: dict[Candidate, int] = {}
        """With the number of its entry in `_order`; 0: it has none yet."""
        self.unordered: dict[Candidate, None] = {}
        """Those without an entry yet. While there are any, `first` may be wrong."""
        self._order: list[tuple[ReleaseKey, int, Candidate]] = []
        """A heap of place, entry number and candidate. Entries of candidates that are no longer
        active, or active anew, are skipped."""
        self._entries = 0

    def __len__(self) -> int:
        return len(self._candidates)

    def __iter__(self) -> Iterator[Candidate]:
        return iter(self._candidates)

    def __contains__(self, candidate: object) -> bool:
        return candidate in self._candidates

    def add(self, candidate: Candidate) -> None:
        """It is to be tried, at its place as it is when it is put in order."""
        self._candidates[candidate] = 0
        self.unordered[candidate] = None

    def discard(self, candidate: Candidate) -> bool:
        """It is not to be tried any more. Returns whether it was."""
        self.unordered.pop(candidate, None)
        return self._candidates.pop(candidate, None) is not None

    def put_one_in_order(self) -> bool:
        """Returns whether there was any."""
        if not self.unordered:
            return False
        candidate = self.unordered.popitem()[0]
        self._entries += 1
        candidate.indexed_key = candidate.release_key
        self._candidates[candidate] = self._entries
        heapq.heappush(self._order, (candidate.indexed_key, self._entries, candidate))
        if len(self._order) > 2 * len(self._candidates) + _SLACK:
            # Too few cycles run to their end, so outdated entries have piled up.
            self._order, self.unordered = [], dict.fromkeys(self._candidates)
        return True

    def first(self) -> Candidate | None:
        """The first of those that are in order."""
        while self._order:
            _, number, candidate = self._order[0]
            if self._candidates.get(candidate) == number:
                return candidate
            heapq.heappop(self._order)
        return None

"""A timeline cut into as many columns as a picture can show, whatever its length."""

from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import accumulate, pairwise

from .utilisation import HeldInterval, WaitingInterval, steps


class TimeColumns:
    """TimeColumns of nearly the same number of whole seconds; none has less than one.

    Costs a few steps for each interval and each column, however long an interval is.
    """

    def __init__(self, seconds: int, most: int) -> None:
        self.number = max(1, min(most, seconds))
        self._begins = [max(1, seconds) * i // self.number for i in range(self.number + 1)]
        self.widths = [end - begin for begin, end in pairwise(self._begins)]
        """Seconds."""

    def held(self, intervals: Iterable[HeldInterval]) -> list[int]:
        """Card-seconds in each column. Their sum is that of the intervals."""
        part, whole = [0] * self.number, [0] * (self.number + 1)
        for begin, end, _, cards in intervals:
            if begin >= end:
                continue
            first, last = self._column(begin), self._column(end - 1)
            if first == last:
                part[first] += (end - begin) * cards
                continue
            part[first] += (self._begins[first + 1] - begin) * cards
            part[last] += (end - self._begins[last]) * cards
            whole[first + 1] += cards
            whole[last] -= cards
        through = accumulate(whole[: self.number])
        return [
            some + cards * width
            for some, cards, width in zip(part, through, self.widths, strict=True)
        ]

    def most_waiting(self, intervals: Sequence[WaitingInterval]) -> list[int]:
        """The most jobs that waited at one moment of each column."""
        found = [0] * self.number
        changes = Counter[int]()
        for begin, end in intervals:
            changes[begin] += 1
            changes[end] -= 1
        now, at = 0, 0
        for moment, jobs in steps(changes.items()):
            if now:
                self._raise(found, at, moment, now)
            now, at = jobs, moment
        return found

    def _raise(self, found: list[int], begin: int, end: int, jobs: int) -> None:
        """So many jobs wait from `begin` up to `end`."""
        for column in range(self._column(begin), self._column(end - 1) + 1):
            found[column] = max(found[column], jobs)

    def _column(self, moment: int) -> int:
        return min(bisect_right(self._begins, moment) - 1, self.number - 1)

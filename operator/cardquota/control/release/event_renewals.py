"""Whose event is written again, and when: before it is gone, or since what it says is outdated.

The API server drops an event an hour after its last write (`--event-ttl`), and anybody may delete
it. So that who waits always has one, each is written again after a while; and sooner if its
sentence is wrong now, as after a change of a quota. Thousands may wait, so turns are given in order
and at a steady rate.
"""

import math
from collections import OrderedDict
from collections.abc import Callable, Iterator
from itertools import islice
from typing import Final

AT_A_TIME: Final = 16
"""Turns given at once. Those who were told together have one verdict, which is worked out once."""
AT_ONCE: Final = 256
"""Who was told before and is told another reason without a turn, at most, if nobody was for long.
"""
_EARLY: Final = 0.001
"""Seconds by which a timer may fire before its time."""
_LOOKED_AT: Final = 256
"""Entries that one call looks at, at most, to find those that still wait."""
_SWEPT_AT_A_TIME: Final = 8
"""Entries that are looked at whenever one is added, while a sweep is under way."""
_SLACK: Final = 1_024
"""Entries of those that do not wait any more that are kept beyond the number of the others."""


class EventRenewals:
    """Gives turns to those whose event is to be written again: by uid of the pod, or key of the
    group. Belongs to the ledger's loop; awaits nothing.

    Guarantees: over any time, at most `per_second` turns for each second of it and 16 more; and as
    many who may be told of another reason without a turn, and 256 more. Who is outdated and whose
    time has come take half of the turns each, or all if there are no others.
    Nobody is in it twice. Memory is bounded by three times those who wait, and 2,048.
    Not guaranteed: that an event is renewed in time if more than `per_second` times `after` wait.
    """

    def __init__(
        self,
        *,
        after: float,
        per_second: float,
        clock: Callable[[], float],
        waits: Callable[[str], bool],
    ) -> None:
        """`after`: seconds from an event to its renewal; infinite: there is none. `clock`: seconds,
        monotonic. `waits`: whether who has this key still waits.
        """
        self._after = after
        self._per_second = per_second
        self._clock = clock
        self._waits = waits
        self._due: OrderedDict[str, float] = OrderedDict()
        """By key: when its time has come. The latest is last."""
        self._outdated: OrderedDict[str, None] = OrderedDict()
        self._turns: set[str] = set()
        """Who has a turn and was not told since: each is in `_due` too."""
        self._next_at = -math.inf
        self._spare = float(AT_ONCE)
        """How many may be told without a turn."""
        self._spare_at = clock()
        """When that was counted."""
        self._left = 0
        """How many entries were left after the last sweep."""
        self._sweeping: Iterator[str] | None = None
        """The keys that are still to be looked at in this sweep."""

    def __contains__(self, key: str) -> bool:
        """Whether its event will be written again."""
        return key in self._due or key in self._outdated

    def __len__(self) -> int:
        return len(self._due) + len(self._outdated)

    def has_turn(self, key: str) -> bool:
        """Whether its event is to be written now, whatever the last one said."""
        return key in self._turns

    def written(self, key: str) -> None:
        """Its event was just written: it is renewed later."""
        self._outdated.pop(key, None)
        self._turns.discard(key)
        self._take_place(key)
        self._sweep()

    def outdated(self, key: str) -> None:
        """What its event says is wrong now, or nobody knows whether it has one."""
        if key not in self._turns and key not in self._outdated:
            self._due.pop(key, None)
            self._outdated[key] = None
            self._sweep()

    def at_once(self) -> bool:
        """Whether one more who was told before may be told now, without a turn, that the reason is
        another one. Thousands may get one together, as when a queue is closed.
        """
        now = self._clock()
        self._spare = min(AT_ONCE, self._spare + (now - self._spare_at) * self._per_second)
        self._spare_at = now
        if self._spare < 1.0:
            return False
        self._spare -= 1.0
        return True

    def forget(self, key: str) -> None:
        """It does not wait any more."""
        self._due.pop(key, None)
        self._outdated.pop(key, None)
        self._turns.discard(key)

    def clear(self) -> None:
        """Nobody is told anything more."""
        self._due.clear()
        self._outdated.clear()
        self._turns.clear()
        self._sweeping = None

    def take(self) -> list[str]:
        """Who has a turn now, at most 16. Who is not told then gets another turn after a while."""
        now = self._clock() + _EARLY
        if now < self._next_at:
            return []
        taken = list[str]()
        for _ in range(_LOOKED_AT):
            key = self._next(now, outdated_first=len(taken) % 2 == 0)
            if key is None:
                break
            if not self._waits(key):
                self.forget(key)
                continue
            self._outdated.pop(key, None)
            self._take_place(key)
            self._turns.add(key)
            taken.append(key)
            if len(taken) == AT_A_TIME:
                break
        if taken:
            self._next_at = self._clock() + len(taken) / self._per_second
        return taken

    @property
    def wait(self) -> float | None:
        """Seconds until `take` finds somebody. None: it never will, as it is now."""
        now = self._clock()
        if self._outdated:
            return max(0.0, self._next_at - now)
        first = next(iter(self._due.values()), math.inf)
        return None if first == math.inf else max(0.0, self._next_at - now, first - now)

    def _next(self, now: float, *, outdated_first: bool) -> str | None:
        outdated = next(iter(self._outdated), None)
        due, at = next(iter(self._due.items()), (None, math.inf))
        if due is None or at > now:
            return outdated
        return outdated if outdated is not None and outdated_first else due

    def _take_place(self, key: str) -> None:
        self._due[key] = self._clock() + self._after
        self._due.move_to_end(key)

    def _sweep(self) -> None:
        """Forget some who do not wait any more: nobody tells us of pods that are gone. A sweep
        begins when there may be as many of them as of the others, and goes on with each entry.
        """
        if self._sweeping is None:
            if len(self) <= 2 * self._left + _SLACK:
                return
            self._sweeping = iter([*self._due, *self._outdated])
        looked_at = 0
        for key in islice(self._sweeping, _SWEPT_AT_A_TIME):
            looked_at += 1
            if not self._waits(key):
                self.forget(key)
        if looked_at < _SWEPT_AT_A_TIME:
            self._left, self._sweeping = len(self), None

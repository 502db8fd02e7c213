"""The garbage collector of a process that keeps a hundred thousand small objects for good.

Python starts a collection by the number of allocations less deallocations. That number misleads
here: freed records were mostly frozen, and offset new ones. So 100,000 young objects can pile up
below a threshold of 10,000, and traversing them holds up the loop for 45 ms. Therefore the loop's
own work triggers collections: it can allocate only so much in a given time.
"""

import gc
from typing import Final

from ..loop.timed_selector import TimedSelector

_YOUNG: Final = 10_000
"""Allocations less deallocations after which Python collects by itself, in any thread. Its default
of 700 is used up by two reviews."""
BUSY: Final = 0.015
"""Seconds of the loop's work between two collections of what is young. In that time the loop makes
up to 40,000 objects that stay. Going through them takes up to 12 ms."""
OLD: Final = 10_000
"""Number of objects that survived a collection, from which on they are traversed once more and then
frozen: 4 ms. If there are twice as many at once, they are frozen without being traversed."""


def spare_what_stays() -> None:
    """Freeze all present objects, so that no collection traverses them again.

    Each traversal of them would hold up the loop for half a second.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(_YOUNG, 2, 500)


class GarbageCollector:
    """Collects in small steps, as the loop works.

    Guarantees: once started, no collection traverses much more than OLD objects and what the loop
    made in BUSY seconds, however many objects there are.
    Not guaranteed: that a reference cycle is ever freed if it was reachable when it was OLD.
    Objects outside cycles are freed at once, as always; our records of the cluster are such.
    """

    def __init__(self, selector: TimedSelector) -> None:
        """`selector`: the selector of the loop whose work is measured."""
        self._selector = selector
        self._worked = 0.0
        self._old = 0
        """Number of objects that survived their first collection; 0 while below OLD."""

    def start(self) -> None:
        """Call it once the cluster was read. May be called again; it freezes newer objects too."""
        spare_what_stays()
        self._selector.on_work = self._work

    def _work(self, seconds: float) -> None:
        """The loop worked for so long since it last called its selector."""
        self._worked += seconds
        if self._old:
            # Not in the same stretch as the collection that found so many.
            if self._old <= 2 * OLD:
                gc.collect()
            gc.freeze()
            self._old = 0
        elif self._worked >= BUSY:
            self._worked = 0.0
            gc.collect(1)
            found = len(gc.get_objects(2))
            self._old = found if found >= OLD else 0

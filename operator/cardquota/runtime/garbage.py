"""The garbage collector of a process that keeps a hundred thousand small objects for good.

Python collects by a count of objects made less those freed. Here that says little: the records that
are freed were mostly frozen, and count down what new ones count up, so that 100,000 young objects
can pile up below a threshold of 10,000. To go through them holds up the loop for 45 ms. So it is
the loop's own work that says when to collect: what can be made in that time is bounded.
"""

import gc
from typing import Final

from ..loop.timed_selector import TimedSelector

_YOUNG: Final = 10_000
"""Objects made, less those freed, after which Python collects by itself, in whatever thread;
its own 700 are two reviews' worth."""
BUSY: Final = 0.02
"""Seconds of the loop's work between two collections of what is young. In that time the loop makes
some 20,000 objects that stay, which take 5 ms to go through."""
OLD: Final = 30_000
"""Objects that outlived a collection, from which on they are gone through once more and then never
again: 8 ms. If there are twice as many all at once, they are not even gone through once more."""


def spare_what_stays() -> None:
    """What is there now is looked through no more.

    To go through it again and again would hold up the loop for half a second each time.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(_YOUNG, 2, 500)


class GarbageCollector:
    """Collects in small pieces, as the loop works.

    Guarantees: once started, no collection goes through much more than OLD objects and what the
    loop made in BUSY seconds, however many there are.
    Not guaranteed: that a cycle of objects is ever freed which was reachable when it was OLD. What
    is not part of a cycle is freed at once, as always; so are our records of the cluster.
    """

    def __init__(self, selector: TimedSelector) -> None:
        """`selector`: of the loop whose work is meant."""
        self._selector = selector
        self._worked = 0.0
        self._old = 0
        """So many objects outlived their first collection; 0 while there are fewer than OLD."""

    def start(self) -> None:
        """To be called once the cluster was read; may repeat, and spares what came since."""
        spare_what_stays()
        self._selector.on_work = self._work

    def _work(self, seconds: float) -> None:
        """The loop worked so long without a look at its selector."""
        self._worked += seconds
        if self._old:
            # Not in the stretch of the collection that found so many.
            if self._old <= 2 * OLD:
                gc.collect()
            gc.freeze()
            self._old = 0
        elif self._worked >= BUSY:
            self._worked = 0.0
            gc.collect(1)
            found = len(gc.get_objects(2))
            self._old = found if found >= OLD else 0

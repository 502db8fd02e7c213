"""How Python's garbage collector is set in a process that keeps 100,000 small objects for good."""

import gc
from typing import Final

_YOUNG: Final = 10_000
"""Allocations less deallocations after which Python collects what is young: up to 5 ms. Its default
of 700 is used up by two reviews."""
_MIDDLE: Final = 2
"""Collections of the young after which what survived them is traversed too: up to 9 ms."""
_OLD: Final = 500
"""Of these, until all that is not frozen is traversed: after 10 million objects that stayed."""


def spare_what_stays() -> None:
    """Freeze all present objects, so that no collection traverses them again (I5).

    Call it once the cluster was read: each traversal of it would hold up the loop for
    half a second.
    Not guaranteed: a bound on what is young. Frozen objects that are freed offset new ones, so
    where many records are replaced at once, one collection may take longer.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(_YOUNG, _MIDDLE, _OLD)

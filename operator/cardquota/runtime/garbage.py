"""The garbage collector of a process that keeps a hundred thousand small objects for good."""

import gc
from typing import Final

_YOUNG: Final = 10_000
"""Objects made, and not freed, between two looks; Python's own 700 are two reviews' worth."""


def spare_what_stays() -> None:
    """To be called once the cluster was read: what is there now is looked through no more.

    To go through it again and again would hold up the loop for half a second each time.
    """
    gc.collect()
    gc.freeze()
    # What is left of the young ones is looked through often, so that it is little each time: of
    # 200,000 objects, as when a leader begins, it would take the loop 60 ms.
    gc.set_threshold(_YOUNG, 2, 500)

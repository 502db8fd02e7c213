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
    gc.set_threshold(_YOUNG, 20, 50)

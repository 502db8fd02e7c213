"""The place of a candidate in the order of its queue."""

from typing import Final, NamedTuple

MOST_COUNTED: Final = 1_000
"""Candidates that a count looks at one by one, and inadmissible classes."""


class Place(NamedTuple):
    """Where a candidate stands among all that wait in its queue, whatever they wait for. A group
    counts once, and so do equal pods without a group that starts together.
    """

    number: int
    """1: it is the first. 0: there is too much to count."""
    of: int
    """How many wait. If there is too much to count, at least so many."""

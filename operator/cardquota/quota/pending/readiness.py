"""Whether a gang needs its waiting members (E6)."""

from enum import IntEnum


class Readiness(IntEnum):
    """The smallest goes first."""

    INCOMPLETE = 0
    """Of a gang that has begun and lacks members of its minimum: what the others hold, or what is
    reserved, is of no use without them."""
    NOT_BEGUN = 1
    """Of a gang that has not begun; and all that are in no gang."""
    COMPLETE = 2
    """Of a gang that has its minimum: its further members are elastic."""

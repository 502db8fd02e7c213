"""Autoscalers whose last answer was a refusal, a moment ago: room is divided among these.

Otherwise whoever asks first after something was given back would get all of it, each time.
"""

from collections.abc import Callable
from typing import Final

from .remembered import Remembered

REMEMBERED: Final = 60.0
"""Seconds. An autoscaler that still lacks replicas asks again within 15 s by default."""


class RefusedAutoscalers:
    """Who lacks how many replicas, by queue: as far as this replica of ours has answered them."""

    def __init__(self, clock: Callable[[], float]) -> None:
        """`clock`: seconds, monotonic."""
        self._lacks = Remembered[int](REMEMBERED, clock)

    def part(self, queue: str, uid: str, asked: int, room: int) -> int:
        """How many of the `asked` replicas this one may have now where there is room for `room`.

        Its equal part, rounded up, and what the others do not lack. Never more than `room`, and at
        least one where there is any.
        """
        found = self._lacks.of_queue(queue)
        others = [lacks for one, lacks in found.items() if one != uid]
        equal = -(-room // (len(others) + 1))
        left = room - sum(min(lacks, equal) for lacks in others)
        return min(asked, room, max(equal, left))

    def got(self, uid: str) -> None:
        """It got something. Whoever waits longer is next."""
        self._lacks.drop(uid)

    def refused(self, queue: str, uid: str, lacks: int) -> None:
        """It got none of the replicas that it lacks."""
        self._lacks.put(queue, uid, lacks)

"""Autoscalers whose last answer was a refusal, a moment ago: room is divided among these.

Otherwise whoever asks first after something was given back would get all of it, each time.
"""

from collections.abc import Callable
from typing import Final

REMEMBERED: Final = 60.0
"""Seconds. An autoscaler that still lacks replicas asks again within 15 s by default."""
MOST: Final = 1_000
"""How many are remembered: then the oldest is forgotten."""


class RefusedAutoscalers:
    """Who lacks how many replicas, by queue: as far as this replica of ours has answered them."""

    def __init__(self, clock: Callable[[], float]) -> None:
        """`clock`: seconds, monotonic."""
        self._clock = clock
        self._found: dict[str, tuple[str, int, float]] = {}
        """By uid of the workload, the oldest first: its queue, what it lacks, until when."""

    def __len__(self) -> int:
        return len(self._found)

    def part(self, queue: str, uid: str, asked: int, room: int) -> int:
        """How many of the `asked` replicas this one may have now where there is room for `room`.

        Its equal part, rounded up, and what the others do not lack. Never more than `room`, and at
        least one where there is any.
        """
        self._forget_old()
        others = [
            lacks for one, (of, lacks, _) in self._found.items() if of == queue and one != uid
        ]
        equal = -(-room // (len(others) + 1))
        left = room - sum(min(lacks, equal) for lacks in others)
        return min(asked, room, max(equal, left))

    def got(self, uid: str) -> None:
        """It got something. Whoever waits longer is next."""
        self._found.pop(uid, None)

    def refused(self, queue: str, uid: str, lacks: int) -> None:
        """It got none of the replicas that it lacks."""
        self._forget_old()
        self._found.pop(uid, None)
        if len(self._found) >= MOST:
            del self._found[next(iter(self._found))]
        self._found[uid] = queue, lacks, self._clock() + REMEMBERED

    def _forget_old(self) -> None:
        now = self._clock()
        while self._found:
            uid, (_, _, until) = next(iter(self._found.items()))
            if until > now:
                return
            del self._found[uid]

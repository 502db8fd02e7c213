"""Creates that were refused although the queue had room, which must not be.

Everything that clients ask for is valid. So a refusal that is not for quota is wrong whatever there
was. Who refuses for quota looks at a replica's view, which is a moment old, and counts what waits
in a queue whose pods are not made to wait as released. So that is wrong only if there was room
by that count all the time from `MARGIN` seconds before it was asked. Where a fault had made views
old by then, nothing is said.
"""

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from .leeway import Trouble
from .recount import Recount
from .stored import QueuePosition

MARGIN = 5.0
_FOR_QUOTA = "insufficient"


@dataclass(frozen=True)
class Denial:
    """A refused create: what it asked for, when, and when the answer came (monotonic)."""

    place: QueuePosition
    """The card as the pod names it: perhaps more than one."""
    amount: int
    sent: float
    answered: float
    text: str


class Rooms:
    """How much room each queue had, over time."""

    def __init__(self, recount: Recount) -> None:
        self._recount = recount
        self._at: defaultdict[QueuePosition, list[float]] = defaultdict(list)
        self._room: defaultdict[QueuePosition, list[int]] = defaultdict(list)

    def after(self, at: float, places: set[QueuePosition]) -> None:
        """Something changed there at this time."""
        for place in places:
            self._at[place].append(at)
            self._room[place].append(self._recount.room(place) - self._recount.gated_deny(place))

    def least(self, place: QueuePosition, begin: float, end: float) -> int:
        """The least room at any moment of a span."""
        first = max(0, bisect_right(self._at[place], begin) - 1)
        last = bisect_right(self._at[place], end)
        return min(self._room[place][first:last], default=0)


def wrong(
    denials: Sequence[Denial], rooms: Rooms, troubles: Sequence[Trouble]
) -> tuple[list[Denial], int]:
    """Those that were wrong, and how many could not be judged."""
    found, unsaid = [], 0
    for denial in denials:
        begin = denial.sent - MARGIN
        if any(one.old and one.begin < denial.answered and begin < one.over for one in troubles):
            unsaid += 1
        elif _FOR_QUOTA not in denial.text or _room(denial, rooms, begin):
            found.append(denial)
    return found, unsaid


def _room(denial: Denial, rooms: Rooms, begin: float) -> bool:
    """Whether any card that it may use had enough all the time."""
    queue, cards = denial.place
    places = [(queue, card) for card in cards.split("|")]
    return any(rooms.least(p, begin, denial.answered) >= denial.amount for p in places)

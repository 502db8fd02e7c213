"""How long nothing was released although something would have fit."""

from .fitting import fitting
from .leeway import Calm
from .recount import Recount

IN_CALM = 10.0
"""Seconds for which that may be while nothing is wrong. Full runs show less than 4."""
AT_ALL = 60.0
"""And whatever is wrong: full runs show up to 32. The longest fault but one alone takes 22, and a
take-over 17; a leader that stands still for 40 is not waited for."""


class Pauses:
    """The longest, in seconds, of any queue, and those that were too long."""

    def __init__(self, recount: Recount) -> None:
        self._recount = recount
        self._since: dict[str, float] = {}
        """Since when something would fit in a queue, or was released last."""
        self._long: dict[tuple[str, float], float] = {}
        """Until when, by queue and begin."""
        self.worst = 0.0
        self.worst_at = 0.0

    def after(self, at: float, queues: set[str], opened: str) -> None:
        """A change at this time touched these queues; one let a pod of `opened` through."""
        for queue in queues:
            self._look(queue, at)
            since = self._since.get(queue)
            if not fitting(self._recount, queue):
                self._since.pop(queue, None)
            elif since is None or queue == opened:
                self._since[queue] = at

    def ended(self, at: float) -> None:
        """The history ends at this time."""
        for queue in self._since:
            self._look(queue, at)

    def too_long(self, calm: Calm, at_all: float = AT_ALL) -> list[str]:
        """What nothing excuses. `at_all`: seconds, whatever is wrong."""
        found = []
        for (queue, since), until in self._long.items():
            of_calm = calm.seconds(since, until)
            if of_calm > IN_CALM or until - since > at_all:
                found.append(
                    f"nothing of {queue} was released for {until - since:.1f} s although"
                    f" something would have fit; for {of_calm:.1f} s of them nothing was wrong"
                )
        return found

    def _look(self, queue: str, at: float) -> None:
        since = self._since.get(queue)
        if since is None:
            return
        if at - since > self.worst:
            self.worst, self.worst_at = at - since, at
        if at - since > IN_CALM:
            self._long[queue, since] = at

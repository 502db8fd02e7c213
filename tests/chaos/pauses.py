"""How long nothing was let through although something would have fit."""

from .fitting import fitting
from .recount import Recount


class Pauses:
    """The longest, in seconds, of any queue."""

    def __init__(self, recount: Recount) -> None:
        self._recount = recount
        self._since: dict[str, float] = {}
        """Since when something would fit in a queue, or was let through last."""
        self.worst = 0.0
        self.worst_at = 0.0

    def after(self, at: float, queues: set[str], opened: str) -> None:
        """A change at this time touched these queues; one let a pod of `opened` through."""
        for queue in queues:
            since = self._since.get(queue)
            if since is not None and at - since > self.worst:
                self.worst, self.worst_at = at - since, at
            if not fitting(self._recount, queue):
                self._since.pop(queue, None)
            elif since is None or queue == opened:
                self._since[queue] = at

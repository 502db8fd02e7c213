"""How long somebody may wait for room before he closes his cards to those behind him (E6)."""

from datetime import UTC, datetime
from typing import NamedTuple


class Starvation(NamedTuple):
    """The wait that is too long, and the time of one look at the queues.

    Times are those that the API server wrote, so that a new leader finds the same.
    """

    now: float
    """Seconds since 1970, by the wall clock."""
    wait: float
    """Seconds, above zero."""

    @property
    def cutoff(self) -> str:
        """Who was created at this time or before has waited too long."""
        found = datetime.fromtimestamp(max(0.0, self.now - self.wait), UTC)
        return found.strftime("%Y-%m-%dT%H:%M:%SZ")

    def waited(self, created: str) -> float:
        """Seconds since a creation time; 0 for one that cannot be read, or is still to come."""
        try:
            return max(0.0, self.now - datetime.fromisoformat(created).timestamp())
        except ValueError:
            return 0.0

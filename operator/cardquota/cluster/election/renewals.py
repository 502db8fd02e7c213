"""When the renewals of a term were sent, and whether they are answered in time."""

HEALTHY = 1.0
"""Seconds within which a renewal must be answered for the API server to count as healthy."""


class Renewals:
    """Used for one term after the other. All times in seconds on the elector's clock."""

    def __init__(self, period: float) -> None:
        """`period`: seconds between sending two renewals."""
        self._period = period
        self.sent = float("-inf")
        """When the last successful one was sent; the acquisition is the first."""
        self._healthy_since = float("inf")

    def begin(self, sent: float, now: float) -> None:
        """The Lease was acquired."""
        self.sent, self._healthy_since = sent, now

    def failed(self, now: float) -> None:
        """A renewal was refused, or its outcome is unknown."""
        self._healthy_since = now

    def succeeded(self, sent: float, now: float) -> None:
        """A renewal was answered; it may have been answered or sent late."""
        if now - sent > HEALTHY or sent - self.sent > self._period + HEALTHY:
            self._healthy_since = now
        self.sent = sent

    def healthy_since(self, now: float) -> float:
        """The time since when every renewal was sent in time and answered within 1 s."""
        # A renewal that is overdue, unanswered or not even sent, counts before it has ended.
        overdue = now - self.sent > self._period + 2 * HEALTHY
        return now if overdue else self._healthy_since

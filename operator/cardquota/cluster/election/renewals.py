"""When the renewals of a term were sent, and whether they are answered as they should be."""

HEALTHY = 1.0
"""Seconds within which a renewal must be answered for the API server to count as healthy."""


class Renewals:
    """Of one term after the other. All times in seconds on the elector's clock."""

    def __init__(self, period: float) -> None:
        """`period`: seconds from sending one to sending the next."""
        self._period = period
        self.sent = float("-inf")
        """When the last one that succeeded was sent; the acquisition is the first."""
        self._healthy_since = float("inf")

    def begin(self, sent: float, now: float) -> None:
        """The Lease was acquired."""
        self.sent, self._healthy_since = sent, now

    def failed(self, now: float) -> None:
        """One was refused, or its outcome is unknown."""
        self._healthy_since = now

    def succeeded(self, sent: float, now: float) -> None:
        """One was answered, perhaps late; or it was sent late."""
        if now - sent > HEALTHY or sent - self.sent > self._period + HEALTHY:
            self._healthy_since = now
        self.sent = sent

    def healthy_since(self, now: float) -> float:
        """Since when every renewal was sent in time and answered within 1 s."""
        # One that is still unanswered, or was not even sent, counts before it is over.
        overdue = now - self.sent > self._period + 2 * HEALTHY
        return now if overdue else self._healthy_since

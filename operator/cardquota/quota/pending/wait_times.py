"""Since when the pods of one queue wait (T7): kept in order, so nobody has to count them."""

from bisect import bisect_left, insort


class WaitTimes:
    """The creation times of pods that wait, as the API server writes them.

    To add or discard one costs by the logarithm of their number; the questions cost nothing.
    """

    __slots__ = ("_created",)

    def __init__(self) -> None:
        self._created: list[str] = []
        """Sorted. One second each, so their order as text is their order in time."""

    def __len__(self) -> int:
        return len(self._created)

    def add(self, created: str) -> None:
        """A pod begins waiting."""
        insort(self._created, created)

    def discard(self, created: str) -> None:
        """A pod that was added with this time no longer waits."""
        del self._created[bisect_left(self._created, created)]

    @property
    def oldest(self) -> str | None:
        """When the first of them was created; None where nobody waits."""
        return self._created[0] if self._created else None

    @property
    def median(self) -> str | None:
        """When the one in the middle was created: at least half of them have waited for as
        long, or longer. None where nobody waits.
        """
        number = len(self._created)
        return self._created[(number - 1) // 2] if number else None

"""How many bytes of request bodies the process works on at one time, on all its ports together.

A body counts from before it is read until its answer is known, whatever is kept of it meanwhile.
"""

from typing import Final

MIB: Final = 1024 * 1024
MOST: Final = 32 * MIB
"""Bytes of all bodies in work."""
SMALL: Final = 64 * 1024
"""Bytes of a body that nearly every request has at most."""
_KEPT_FOR_SMALL: Final = 4
"""This part of the budget is for small bodies alone: large ones do not keep them waiting."""


class BusyError(Exception):
    """There is no room for the body now. Its sender is to try again."""


class BodyBudget:
    """What all requests share. It never waits: who finds no room is refused."""

    def __init__(self, most: int = MOST) -> None:
        """`most`: bytes."""
        self._most = most
        self.held = 0
        """Bytes of all bodies in work now."""

    def take(self, more: int, size: int) -> None:
        """Hold `more` bytes for a body of `size` bytes as far as it is known. Raises BusyError."""
        room = self._most if size <= SMALL else self._most - self._most // _KEPT_FOR_SMALL
        if self.held + more > room:
            raise BusyError
        self.held += more

    def give_back(self, size: int) -> None:
        """So many bytes are in work no more."""
        self.held -= size


OF_THE_PROCESS: Final = BodyBudget()
"""One for all ports: memory is the process's."""


class BodyHold:
    """What one request holds of the budget."""

    __slots__ = ("_budget", "_size")

    def __init__(self, budget: BodyBudget) -> None:
        self._budget = budget
        self._size = 0

    def grow_to(self, size: int) -> None:
        """The body has at least so many bytes. Raises BusyError; what was held stays held."""
        more = size - self._size
        if more > 0:
            self._budget.take(more, size)
            self._size = size

    def release(self) -> None:
        """The request is answered, or given up. Safe to do twice."""
        self._budget.give_back(self._size)
        self._size = 0

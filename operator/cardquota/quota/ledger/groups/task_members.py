"""How many members of a pod group there are by task, and how many of them have started (E2)."""

from collections.abc import Mapping

Minimum = Mapping[str, int]
"""By task: how many of its pods the first start needs."""


class TaskMembers:
    """Counts of one group. Members of no task are not in them."""

    __slots__ = ("_let_through", "_there")

    def __init__(self) -> None:
        self._there: dict[str, int] = {}
        self._let_through: dict[str, int] = {}

    def come(self, task: str, sign: int = 1) -> None:
        """A member of a task is there, or (`sign` -1) is gone."""
        _count(self._there, task, sign)

    def start(self, task: str, sign: int = 1) -> None:
        """A member of a task is let through, bound or succeeded, or (`sign` -1) is so no more."""
        _count(self._let_through, task, sign)

    def to_come(self, minimum: Minimum) -> list[tuple[str, int, int]]:
        """The tasks of which fewer exist than must start: task, minimum, and how many exist."""
        found = ((task, least, self._there.get(task, 0)) for task, least in minimum.items())
        return [row for row in found if row[2] < row[1]]

    def to_start(self, minimum: Minimum) -> Mapping[str, int]:
        """By task: how many must still be let through. Tasks with their minimum are left out."""
        found = ((task, least - self._let_through.get(task, 0)) for task, least in minimum.items())
        return {task: number for task, number in found if number > 0}


def _count(counts: dict[str, int], task: str, sign: int) -> None:
    if not task:
        return
    number = counts.get(task, 0) + sign
    if number:
        counts[task] = number
    else:
        del counts[task]

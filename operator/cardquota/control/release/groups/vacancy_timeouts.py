"""What is kept for the replacement of a member that a running gang lost is kept for a time (E6).

Time counts from when this leader first looked after the loss: clocks of two machines are never
compared. Each further loss begins it anew.
"""

from collections.abc import Callable, Iterable
from functools import partial

from ....quota.ledger.groups.pod_group_state import PodGroupState
from ....quota.ledger.groups.vacancy import Vacancy
from ...later import Later, Timer, in_loop_later


class VacancyTimeouts:
    """At most one timer for each gang that has lost a member. Belongs to the ledger's loop."""

    def __init__(
        self, wait: float, give_up: Callable[[str, Vacancy], None], *, later: Later = in_loop_later
    ) -> None:
        """`wait`: seconds; 0: nothing is kept. `give_up` is called with the gang's key, once for
        each loss whose time is over, whether anything lacks by then or not. `later` calls a
        function after a number of seconds.
        """
        self._wait = wait
        self._give_up = give_up
        self._later = later
        self._running: dict[str, tuple[Vacancy, Timer]] = {}

    def __len__(self) -> int:
        return len(self._running)

    def look(self, groups: Iterable[PodGroupState]) -> None:
        """These may have lost members, or may lack members again."""
        for group in list(groups):
            vacancy = group.vacancy
            noted, timer = self._running.get(group.key, (None, None))
            if vacancy is None or vacancy is noted:
                continue
            if timer is not None:
                timer.cancel()
            if self._wait > 0:
                over = partial(self._over, group.key)
                self._running[group.key] = vacancy, self._later(self._wait, over)
            else:
                self._give_up(group.key, vacancy)

    def stop(self) -> None:
        """The term is over."""
        for _, timer in self._running.values():
            timer.cancel()
        self._running.clear()

    def _over(self, key: str) -> None:
        vacancy, _ = self._running.pop(key)
        self._give_up(key, vacancy)

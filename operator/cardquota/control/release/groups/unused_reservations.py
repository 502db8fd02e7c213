"""Namespaces whose reservations ended unused: what they ask for in advance goes last (E8).

In memory of the leader alone: a new one knows of none.
"""

import logging
from collections.abc import Callable
from functools import partial
from typing import Final

from ....quota.ledger.ledger import Ledger
from ....quota.words import logged
from ...later import Later, Timer, in_loop_later

_LOG = logging.getLogger(__name__)
HELD: Final = 5.0
"""Seconds for which nothing is reserved there at all. Workloads whose pods were refused stand in no
order: they are woken meanwhile, and make their pods."""
LAST: Final = 1_800.0
"""Seconds after the last such end in which groups of the namespace go after all others."""
MOST: Final = 1_000
"""Pairs of queue and namespace that are remembered. Then the oldest is forgotten."""


class UnusedReservations:
    """Belongs to the ledger's loop, for one term."""

    def __init__(
        self, ledger: Ledger, wake: Callable[[], None], *, later: Later = in_loop_later
    ) -> None:
        """`wake`: is called when something may be reserved again."""
        self._ledger = ledger
        self._wake = wake
        self._later = later
        self._timers: dict[tuple[str, str], Timer] = {}

    def note(self, queue: str, namespace: str) -> None:
        """A reservation in this queue for a group of this namespace has ended unused."""
        key = queue, namespace
        if self._ledger.last.get(key):
            return  # held already: its next groups have their chance all the same
        if key not in self._timers:
            _LOG.info(
                "a reservation in queue %s of namespace %s ended unused: others go first for %d s",
                logged(queue),
                logged(namespace),
                LAST,
            )
        self._forget(key)
        if len(self._timers) >= MOST:
            self._end(next(iter(self._timers)))
        self._ledger.put_last(queue, namespace, held=True)
        self._timers[key] = self._later(HELD, partial(self._may_ask, key))

    def stop(self) -> None:
        """The term is over: all have their places again."""
        for key in list(self._timers):
            self._end(key)

    def _may_ask(self, key: tuple[str, str]) -> None:
        self._ledger.put_last(*key, held=False)
        self._timers[key] = self._later(LAST, partial(self._end, key))
        self._wake()

    def _end(self, key: tuple[str, str]) -> None:
        self._forget(key)
        self._ledger.put_last(*key, held=None)
        self._wake()

    def _forget(self, key: tuple[str, str]) -> None:
        timer = self._timers.pop(key, None)
        if timer is not None:
            timer.cancel()

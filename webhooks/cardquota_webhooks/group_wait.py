"""Waits a moment for the pod group that a new workload names."""

from typing import Final

from cardquota.quota.ledger.ledger_reader import LedgerReader
from cardquota.quota.pods.pod_facts import PodFacts

from .visibility_wait import VisibilityWait

MOST_WAITING: Final = 16
"""Reviews that wait at once: each asks at every change whether its group is there."""


class GroupWaits:
    """At most 16 reviews wait at once; all others are answered by what is known. Not guaranteed:
    that the group is there then.
    """

    def __init__(self, ledger: LedgerReader, visibility: VisibilityWait) -> None:
        self._ledger = ledger
        self._visibility = visibility
        self._waiting = 0

    async def for_group_of(self, facts: PodFacts) -> None:
        """Wait until the group of these pods was seen, or the time is over."""
        if not facts.group or self._is_seen(facts) or self._waiting >= MOST_WAITING:
            return
        self._waiting += 1
        try:
            await self._visibility.until(lambda: self._is_seen(facts))
        finally:
            self._waiting -= 1

    def _is_seen(self, facts: PodFacts) -> bool:
        group = self._ledger.groups.get(facts.group)
        return group is not None and group.facts is not None

"""Waits a moment for the pod group that a new workload names."""

from typing import Final

from cardquota.cluster.watch.change_notifier import ChangeNotifier
from cardquota.quota.ledger.ledger_reader import LedgerReader
from cardquota.quota.pods.pod_facts import PodFacts
from cardquota.settings import Settings

MOST_WAITING: Final = 16
"""Reviews that wait at once: each asks at every change whether its group is there."""
_ALL_ELSE: Final = 1.0
"""Seconds of the API server's patience that are kept for all else that a review does."""


class GroupWaits:
    """Whoever applies group and workload together wrote the group a moment ago.

    Guarantees: at most 16 reviews wait at once, all others are answered by what is known; and with
    the waits for the namespace and the queue that may follow, a review takes less than the API
    server's patience. Not guaranteed: that the group is there then.
    """

    def __init__(self, ledger: LedgerReader, settings: Settings, notifier: ChangeNotifier) -> None:
        self._ledger = ledger
        self._unseen_wait = settings.webhook.unseen_wait
        self._patience = settings.webhook.timeout_seconds - _ALL_ELSE
        self._notifier = notifier
        self._waiting = 0

    async def for_group_of(self, facts: PodFacts, *, namespace_known: bool) -> None:
        """Wait until the group of these pods was seen, or for `seconds`."""
        if not facts.group or self._is_seen(facts) or self._waiting >= MOST_WAITING:
            return
        seconds = self.seconds(namespace_known=namespace_known)
        self._waiting += 1
        try:
            await self._notifier.wait_for(lambda: self._is_seen(facts), seconds)
        finally:
            self._waiting -= 1

    def seconds(self, *, namespace_known: bool) -> float:
        """How long one review waits at most. The queue may be waited for after that, and a
        namespace that is not known, too.
        """
        later = self._unseen_wait * (1 if namespace_known else 2)
        return max(0.0, min(self._unseen_wait, self._patience - later))

    def _is_seen(self, facts: PodFacts) -> bool:
        group = self._ledger.groups.get(facts.group)
        return group is not None and group.facts is not None

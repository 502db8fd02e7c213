"""Pods that got past admission: webhooks or policies were missing, or the pods were there first.

They are counted like all others (I3). A metric reports them, and an event on the queue: one per
change, not one per pod. The event names no pod, since all users of the queue may read it, from any
namespace; the log names the first.
"""

import logging
from collections.abc import Iterable
from functools import partial
from typing import Final

from ...cluster.events.events import EventRecorder
from ...quota import vocabulary as v
from ...quota.accounts.account import OUTSIDE
from ...quota.amounts import Amount, Amounts, is_card
from ...quota.ledger.ledger_reader import LedgerReader
from ...quota.messages import report_messages
from ...quota.words import logged
from ..later import Later, Timer, in_loop_later
from ..references import queue_reference

_LOG = logging.getLogger(__name__)
_GATHER: Final = 2.0
"""Seconds for which such pods are gathered into one event."""


class UnadmittedReports:
    """Events about pods that got past admission, while we lead. Belongs to the ledger's loop.

    A queue is reported when it has more of them than before. A new leader reports what it finds.
    """

    def __init__(
        self, ledger: LedgerReader, events: EventRecorder, *, later: Later = in_loop_later
    ) -> None:
        """`later` calls a function after a number of seconds."""
        self._ledger = ledger
        self._events = events
        self._later = later
        self._known: dict[str, int] = {}
        """By queue: how many there were. Queues without any are left out."""
        self._timers: dict[str, Timer] = {}
        """Queues that are about to be reported."""

    def look(self, queues: Iterable[str]) -> None:
        """The charges of these queues have changed. Costs O(queues)."""
        for queue in queues:
            account = self._ledger.account(queue)
            if queue == OUTSIDE or account is None or account.facts is None:
                self._note(queue, 0)
            elif queue not in self._timers:
                count = len(account.unadmitted)
                if count > self._known.get(queue, 0):
                    self._timers[queue] = self._later(_GATHER, partial(self._tell, queue))
                else:
                    self._note(queue, count)

    def stop(self) -> None:
        """The term is over: report nothing, and forget what was reported."""
        for timer in self._timers.values():
            timer.cancel()
        self._timers.clear()
        self._known.clear()

    def _note(self, queue: str, count: int) -> None:
        if count:
            self._known[queue] = count
        else:
            self._known.pop(queue, None)

    def _tell(self, queue: str) -> None:
        del self._timers[queue]
        account = self._ledger.account(queue)
        if account is None or account.facts is None:
            return
        unadmitted = account.unadmitted
        more = len(unadmitted) > self._known.get(queue, 0)
        self._note(queue, len(unadmitted))
        if not more:
            return
        # The reason is the same as last time; the larger number is news.
        self._events.forget(account.facts.uid)
        text = report_messages.unadmitted(queue, len(unadmitted), _amounts(unadmitted.held))
        first = self._ledger.pods[next(iter(unadmitted))].facts
        _LOG.warning("%s (the first is %s)", text, logged(first.namespace, first.name))
        reference = queue_reference(account.facts)
        self._events.record(reference, type="Warning", reason=v.UNADMITTED, message=text)


def _amounts(held: Amounts) -> list[Amount]:
    """Cards come first: quotas are about them."""
    return sorted(held.items(), key=lambda row: (not is_card(row[0]), row[0]))

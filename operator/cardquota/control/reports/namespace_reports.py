"""Namespaces with an unknown value in our label: an event on each, once per value, and a log line.

Such a label is refused at write. It exists if it was written before the installation, in audit
mode, or while the policy was missing.
"""

import logging
from typing import Final

from ...cluster.events.events import EventRecorder
from ...quota import vocabulary as v
from ...quota.ledger.ledger_reader import LedgerReader
from ...quota.messages import report_messages
from ..references import namespace_reference

_LOG = logging.getLogger(__name__)
_AT_A_TIME: Final = 100
"""Namespaces reported in one call. If all had such a label, reporting all would block the loop."""


class NamespaceReports:
    """Events while we lead; a new leader reports what it finds. Belongs to the ledger's loop."""

    def __init__(self, ledger: LedgerReader, events: EventRecorder) -> None:
        self._ledger = ledger
        self._events = events
        self._told: dict[str, str] = {}
        """By namespace with such a label: the value that was reported."""

    def look(self) -> bool:
        """Report what is new, of some namespaces. Returns whether all are reported. Costs in
        proportion to such namespaces, of which there are normally none.
        """
        left = _AT_A_TIME
        found = self._ledger.unknown_modes
        for name in self._told.keys() - found.keys():
            del self._told[name]
        for name, facts in found.items():
            if self._told.get(name) == facts.unknown_mode:
                continue
            if not left:
                return False
            left -= 1
            self._told[name] = facts.unknown_mode
            text = report_messages.namespace_mode_unknown(name, facts.unknown_mode)
            _LOG.warning("%s", text)
            self._events.forget(facts.uid)  # another value under the same reason is news
            self._events.record(
                namespace_reference(facts), type="Warning", reason=v.MODE_UNKNOWN, message=text
            )
        return True

    def stop(self) -> None:
        """The term is over: forget what was reported."""
        self._told.clear()

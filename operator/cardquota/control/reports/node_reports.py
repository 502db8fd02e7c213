"""Nodes whose cards are not counted are reported, once per change: in the log and by an event."""

import logging
from typing import Final

from ...cluster.events.events import EventRecorder
from ...quota import vocabulary as v
from ...quota.ledger.ledger_reader import LedgerReader
from ...quota.messages import report_messages
from ..references import node_reference

_LOG = logging.getLogger(__name__)
_AT_A_TIME: Final = 100
"""Nodes reported in one call. Reporting a whole cluster would block the loop."""


def report_nodes(ledger: LedgerReader, events: EventRecorder) -> bool:
    """Report changes since the last call (D7, D9), of some nodes. Returns whether of all."""
    for _ in range(_AT_A_TIME):
        found = ledger.nodes.take_report()
        if found is None:
            return True
        facts, problems = found
        # A new problem under the same reason is news too.
        events.forget(facts.uid)
        if problems:
            others = ledger.nodes.counts_others(facts.name)
            text = report_messages.not_counted(facts.name, problems, others=others)
            _LOG.warning("%s", text)
            events.record(node_reference(facts), type="Warning", reason=v.NOT_COUNTED, message=text)
    return False

"""Nodes whose card memory cannot be read: an event on each when that changes, and a log line.

A list of broken cards that nobody can read, cards of no readable size, pods whose card is not
known, pods of both kinds on one node: until that is put right less is given out than there is.
"""

import logging
from typing import Final

from ...cluster.events.events import EventRecorder
from ...quota import vocabulary as v
from ...quota.ledger.ledger_reader import LedgerReader
from ...quota.messages import report_messages
from ..references import node_reference

_LOG = logging.getLogger(__name__)
_AT_A_TIME: Final = 20
"""Nodes looked at in one call. Each may have hundreds of pods."""


class MemoryReports:
    """Events while we lead; a new leader reports what it finds. Belongs to the ledger's loop."""

    def __init__(self, ledger: LedgerReader, events: EventRecorder) -> None:
        self._ledger = ledger
        self._events = events
        self._told: dict[str, str] = {}
        """By node of which something was told: the sentence."""

    def start(self) -> None:
        """A term begins: look at every node."""
        self._ledger.card_memory.tell_all()

    def look(self) -> bool:
        """Report what is new, of some nodes. Returns whether all are reported."""
        for _ in range(_AT_A_TIME):
            name = self._ledger.card_memory.take_untold()
            if name is None:
                return True
            self._report(name)
        return False

    def stop(self) -> None:
        """The term is over: forget what was reported."""
        self._told.clear()

    def _report(self, name: str) -> None:
        memory, facts = self._ledger.card_memory, self._ledger.nodes.get(name)
        pods = [f"{pod.namespace}/{pod.name}" for pod in memory.unknown_pods(name)]
        node = memory.get(name)
        text = ""
        if node is not None and facts is not None and (memory.problems(name) or pods or node.mixed):
            text = report_messages.card_memory_unreadable(
                name, memory.problems(name), pods, mixed=node.mixed
            )
        if not text:
            self._told.pop(name, None)
            return
        if facts is None or self._told.get(name) == text:
            return
        self._told[name] = text
        _LOG.warning("%s", text)
        self._events.forget(facts.uid)  # another sentence under the same reason is news
        self._events.record(
            node_reference(facts), type="Warning", reason=v.CARD_MEMORY_UNREADABLE, message=text
        )

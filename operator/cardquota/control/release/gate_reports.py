"""What is told of one gate: that somebody does not let it be opened, and that nobody knows."""

from typing import Final

from ...cluster.events.events import EventRecorder
from ...quota import messages
from ...quota import vocabulary as v
from ...quota.ledger.ledger_reader import LedgerReader
from ...quota.pods.pod_facts import PodFacts
from ...quota.stamp import Stamp
from ..references import pod_reference

_UNDECIDED: Final = "is undecided"
"""What such an event is about: the pod is charged, while one that was refused is not."""


class GateReports:
    """Events on pods, once per reason. Belongs to the ledger's loop; awaits nothing."""

    def __init__(self, ledger: LedgerReader, events: EventRecorder) -> None:
        self._ledger = ledger
        self._events = events

    def refused(self, facts: PodFacts, answer: str) -> None:
        """Somebody does not let its gate be opened: it waits on, and is charged for nothing."""
        self._tell(facts, messages.gate_refused(answer))

    def unsure(self, facts: PodFacts, stamp: Stamp, answer: str) -> None:
        """Nobody knows whether its gate will be opened yet: until then it stays charged."""
        record = self._ledger.pods.get(facts.uid)
        if record is not None:
            text = messages.gate_undecided(stamp.queue, record.charge, answer)
            self._tell(facts, text, _UNDECIDED)

    def _tell(self, facts: PodFacts, text: str, topic: str = "") -> None:
        record = self._ledger.pods.get(facts.uid)
        if record is not None:
            record.told = None  # if it waits again, that is news
        self._events.record(
            pod_reference(facts), type="Warning", reason=v.GATE_REFUSED, message=text, topic=topic
        )

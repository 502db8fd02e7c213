"""Events about one gate: its opening is refused, or its state is not known."""

from typing import Final

from ...cluster.events.events import EventRecorder
from ...metrics import Metrics
from ...quota import vocabulary as v
from ...quota.ledger.ledger_reader import LedgerReader
from ...quota.messages import gate_messages
from ...quota.pods.pod_facts import PodFacts
from ...quota.stamp import Stamp
from ..references import pod_reference

_UNDECIDED: Final = "is undecided"
"""The topic of such an event: the pod is charged, unlike one that was refused."""


class GateReports:
    """Events on pods, once per reason, and renewed while it stays so. Belongs to the ledger's loop;
    awaits nothing.
    """

    def __init__(self, ledger: LedgerReader, events: EventRecorder, metrics: Metrics) -> None:
        self._ledger = ledger
        self._events = events
        self._metrics = metrics

    def refused(self, facts: PodFacts, answer: str) -> None:
        """The opening of its gate is refused: it waits, and is charged nothing."""
        self._metrics.refused_gates.labels("object").inc()
        self._tell(facts, gate_messages.gate_refused(answer))

    def unsure(self, facts: PodFacts, stamp: Stamp, answer: str) -> None:
        """It is not known whether its gate will still open: until then it stays charged."""
        record = self._ledger.pods.get(facts.uid)
        if record is not None:
            text = gate_messages.gate_undecided(stamp.queue, record.charge, answer)
            self._tell(facts, text, _UNDECIDED)

    def _tell(self, facts: PodFacts, text: str, topic: str = "") -> None:
        record = self._ledger.pods.get(facts.uid)
        if record is not None:
            record.told = None  # if it waits again, that is news
        # It is tried again at least once a minute, and told of each time: so none is missing long.
        self._events.record(
            pod_reference(facts),
            type="Warning",
            reason=v.GATE_REFUSED,
            message=text,
            topic=topic,
            renewable=True,
        )

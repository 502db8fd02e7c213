"""What is said of a pod with cards and no queue that Volcano schedules (V5). Pure."""

from ..ledger.ledger_reader import LedgerReader
from ..messages import queue_messages
from ..pods.pod_facts import PodFacts
from ..verdict import Outcome, Verdict
from ..vocabulary import VOLCANO_SCHEDULER, Mode


def told_of_default(
    ledger: LedgerReader, facts: PodFacts, verdict: Verdict, scheduler: str
) -> Verdict:
    """The verdict, with a Warning that names what the pod runs as and who counts it, if no queue
    does; it takes the place of all others. `scheduler`: as in the pod's `spec.schedulerName`.

    For `scheduler: volcano` alone. In a namespace that is switched off nothing is said.
    """
    if (
        scheduler != VOLCANO_SCHEDULER
        or verdict.outcome is not Outcome.UNMANAGED
        or not ledger.uses_cards(facts)
        or ledger.mode_in(facts.namespace) is Mode.OFF
    ):
        return verdict
    return verdict._replace(warnings=(queue_messages.runs_without_quota(),))

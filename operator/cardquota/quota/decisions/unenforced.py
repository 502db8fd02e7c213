"""What is told of pods on which nothing is enforced: they run, whatever they ask for."""

from ..ledger.ledger_reader import LedgerReader
from ..messages import queue_messages
from ..pods.pod_facts import PodFacts
from ..verdict import Outcome, Verdict
from ..vocabulary import VOLCANO_SCHEDULER, Mode, Reason


def card_not_steered(ledger: LedgerReader, facts: PodFacts, verdict: Verdict) -> tuple[str, ...]:
    """A warning beside that of audit mode, if a pod of this verdict names a card. Not for one
    without a queue, which is told with the verdict, nor for a name that is wrong in itself. Those
    of which there is nothing else to say are not told: a warning means that rules would matter.
    """
    if facts.card_text is None or not verdict.queue or verdict.reason is Reason.INVALID_CARD:
        return ()
    if ledger.mode_in(facts.namespace) is not Mode.AUDIT:
        return ()
    return (queue_messages.card_in_audit(facts.card_text),)


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

"""Pods of audit mode that name a card: nothing makes them run there (P5).

What keeps a pod on nodes of its card is written when its gate opens. In audit mode there is no
gate, so a pod may run on another model, for which it is then counted (D8).
"""

from ..ledger.ledger_reader import LedgerReader
from ..messages import queue_messages
from ..pods.pod_facts import PodFacts
from ..verdict import Verdict
from ..vocabulary import Mode, Reason


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

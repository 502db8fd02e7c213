"""Which queue or pod group was probably meant, where there is none of the name that was written."""

from ..ledger.ledger_reader import LedgerReader
from ..messages.queues import queue_messages
from ..pods.pod_facts import PodFacts
from ..verdict import Verdict
from ..vocabulary import QueueState, Reason


def queue_meant(ledger: LedgerReader, written: str, namespace: str) -> str:
    """The nearest queue that this namespace may use; empty if none is near. Of others nobody is
    told that they exist. Costs what `KnownNames.near` does, among 10,000 queues too.
    """
    for near in ledger.queue_names.near(written):
        account = ledger.account(near.name)
        facts = account.facts if account is not None else None
        if facts is not None and facts.state is QueueState.OPEN and facts.admits(namespace):
            return near.name
    return ""


def any_queue_meant(ledger: LedgerReader, written: str) -> str:
    """The nearest queue, open or not; empty if none is near. For who may know of all queues. Costs
    as much.
    """
    return next((one.name for one in ledger.queue_names.near(written)), "")


def group_meant(ledger: LedgerReader, key: str) -> str:
    """The nearest pod group of the same namespace; empty if none is near. `key`: of the group that
    is not there, as `namespace/name`.
    """
    return next(iter(ledger.group_names.near(key)), "")


def with_group_meant(ledger: LedgerReader, facts: PodFacts, verdict: Verdict) -> Verdict:
    """The verdict on a pod whose group is not there, its text with the group that was probably
    meant; any other verdict as it is. For a text that goes out: a release pass and the judgement of
    other pods ask of thousands whether their group is there, and need no guess.
    """
    if verdict.reason is not Reason.GROUP_NOT_FOUND:
        return verdict
    text = queue_messages.group_not_seen(facts.group, meant=group_meant(ledger, facts.group))
    return verdict._replace(text=text, warnings=(text,))

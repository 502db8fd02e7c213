"""Which queue or pod group was probably meant, where there is none of the name that was written."""

from ..close_names import close_names
from ..ledger.ledger_reader import LedgerReader
from ..messages import queue_messages
from ..pods.pod_facts import PodFacts
from ..verdict import Verdict
from ..vocabulary import QueueState, Reason


def queue_meant(ledger: LedgerReader, written: str, namespace: str) -> str:
    """The closest queue that this namespace may use; empty if none is close. Of others nobody is
    told that they exist.
    """
    for name in close_names(written, _queues(ledger)):
        account = ledger.account(name)
        facts = account.facts if account is not None else None
        if facts is not None and facts.state is QueueState.OPEN and facts.admits(namespace):
            return name
    return ""


def any_queue_meant(ledger: LedgerReader, written: str) -> str:
    """The closest queue, open or not; empty if none is close. For who may know of all queues."""
    return next(iter(close_names(written, _queues(ledger))), "")


def _queues(ledger: LedgerReader) -> list[str]:
    return [account.name for account in ledger.accounts() if account.facts is not None]


def group_meant(ledger: LedgerReader, key: str) -> str:
    """The closest pod group of the same namespace; empty if none is close. `key`: of the group that
    is not there, as `namespace/name`. Costs by the number of all groups.
    """
    namespace, slash, name = key.partition("/")
    there = (key for key, group in ledger.groups.items() if group.facts is not None)
    names = [
        one.removeprefix(namespace + slash) for one in there if one.startswith(namespace + slash)
    ]
    return next(iter(close_names(name, names)), "")


def with_group_meant(ledger: LedgerReader, facts: PodFacts, verdict: Verdict) -> Verdict:
    """The verdict on a pod whose group is not there, its text with the group that was probably
    meant; any other verdict as it is. For a text that goes out: a release pass and the judgement of
    other pods ask of thousands whether their group is there, and need no guess.
    """
    if verdict.reason is not Reason.GROUP_NOT_FOUND:
        return verdict
    text = queue_messages.group_not_seen(facts.group, meant=group_meant(ledger, facts.group))
    return verdict._replace(text=text, warnings=(text,))

"""The numbers of a queue with a quota of one card, as the ledger reports them."""

from builders import H200, a_pod, see
from cardquota.quota.ledger import Ledger
from cardquota.quota.reports import QueueReport, report


def numbers(ledger: Ledger) -> QueueReport:
    found = report(ledger, "queue")
    assert found is not None
    return found


def one_more(ledger: Ledger, name: str) -> QueueReport:
    """With one pod more that waits."""
    see(ledger, a_pod(name).in_queue("queue").naming(H200).asking_for(1).gated())
    return numbers(ledger)


def one_more_bound(ledger: Ledger, name: str) -> QueueReport:
    """With one pod more that runs."""
    pod = a_pod(name).in_queue("queue").naming(H200).asking_for(1)
    see(ledger, pod.stamped("queue", {H200: 1}).on_node("h200-a"))
    return numbers(ledger)

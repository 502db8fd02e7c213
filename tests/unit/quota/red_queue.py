"""A small cluster with one queue, and its totals."""

from builders import CARDS, H200, H800, Body, a_ledger, a_pod, a_queue
from cardquota.quota.ledger import Ledger
from cardquota.quota.reports import Totals

from .events import totals as all_totals

RED = a_queue("red").with_quota({H200: 3, H800: 3})
UNNAMED = a_pod().naming(H200).asking_for(1)
POD = a_pod().in_queue("red").naming(H200).asking_for(2)


def a_cluster(*things: Body) -> Ledger:
    return a_ledger(*CARDS, RED, *things)


def totals(ledger: Ledger, card: str = H200, queue: str = "red") -> tuple[int, int, int, int]:
    """Requested, inqueue, allocated, elastic; and the recount agrees."""
    found = all_totals(ledger).get((queue, card), Totals())
    return found.requested, found.inqueue, found.allocated, found.elastic


def waiting(ledger: Ledger) -> set[str]:
    account = ledger.account("red")
    assert account is not None
    return set(account.pending.uids())

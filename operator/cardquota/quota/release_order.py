"""Which queue is looked at first (E6)."""

from collections.abc import Iterable

from .account import Account
from .ledger import Ledger


def queue_order(ledger: Ledger, queues: Iterable[str]) -> list[str]:
    """Queues by priority, then by how little of what they deserve they hold, then by name."""

    def place(queue: str) -> tuple[int, int, str]:
        account = ledger.account(queue)
        if account is None or account.facts is None:
            return (0, 0, queue)
        return (-account.facts.priority, share(ledger, account), queue)

    return sorted(queues, key=place)


def share(ledger: Ledger, account: Account) -> int:
    """The largest part of what it deserves that a queue holds of any card, in millionths.

    Where the cluster has less of a card than all quotas together, a queue deserves as much less.
    Not rounded to whole cards before it is compared: a small quota may then deserve none.
    """
    return max((_share(ledger, account, card) for card in account.cards), default=0)


def _share(ledger: Ledger, account: Account, card: str) -> int:
    allocated, quota = account.row(card).allocated, account.quota[card]
    quotas = ledger.cluster_quota(card)
    there = min(quotas, ledger.nodes.total(card) or quotas)
    return 1_000_000 * allocated * quotas // (quota * there) if quota else 0

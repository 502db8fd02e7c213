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
        return (-account.facts.priority, share(account), queue)

    return sorted(queues, key=place)


def share(account: Account) -> int:
    """The largest part of its quota that a queue holds of any card, in millionths."""
    held = ((account.row(card).allocated, quota) for card, quota in account.quota.items())
    return max((1_000_000 * allocated // quota for allocated, quota in held if quota), default=0)

"""In which order queues have their turn (E6), without a pause."""

from collections.abc import Iterable

from cardquota.quota.ledger import LedgerReader
from cardquota.quota.release import QueueOrder


def queue_order(ledger: LedgerReader, queues: Iterable[str]) -> list[str]:
    order = QueueOrder(ledger)
    order.add(queues)
    while order.place_one():
        pass
    found = list[str]()
    while (queue := order.take()) is not None:
        found.append(queue)
    return found

"""What the product says of who waits and who holds, with a fault in it."""

import random
from typing import Any

from cardquota.quota.accounts import AccountReader
from cardquota.quota.pods import HeldCards, PodRecord
from cardquota.quota.reports import Waiting, queue_report

from .breaker import Breaker

_KEPT = 0.05
"""The share of pods that stay among the holders."""


def waiting_off_by_one(breaker: Breaker) -> None:
    counted = queue_report._waiting

    def one_more(account: AccountReader) -> Waiting:
        found = counted(account)
        return found._replace(pods=found.pods + 1)

    breaker.replace(queue_report, "_waiting", one_more)


def holders_stay(breaker: Breaker) -> None:
    discard = HeldCards.discard

    def sometimes_not(self: Any, record: PodRecord) -> None:
        if record.held and record.charge and random.random() < _KEPT:
            breaker.count(HeldCards, "discard")
            return
        discard(self, record)

    breaker.replace(HeldCards, "discard", sometimes_not, always=False)

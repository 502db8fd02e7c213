"""Pods that wait behind a pod without room, where no pod passes (`dequeueStrategy: fifo`).

Known from the ledger alone, on any replica, without the leader's notes on waiting pods.
"""

from bisect import bisect_left
from heapq import nsmallest
from typing import Final

from ..accounts.account_reader import AccountReader
from ..ledger.ledger_reader import LedgerReader
from ..pending.candidate import PodClass
from ..pods.pod_record import PodRecord, SortKey
from ..verdict import Outcome
from ..vocabulary import Mode
from .judgement import judge, judge_presence

MOST_CLASSES: Final = 32
"""Classes of waiting pods, from the first on, that are judged."""
_SORTED: Final = 1_000
"""Classes of waiting pods. If there are more, none is judged."""


class HeldUp:
    """By card: the sort key after which no pod that asks for it goes."""

    def __init__(self) -> None:
        self._since: dict[str, SortKey] = {}

    def block(self, record: PodRecord) -> None:
        """Pods after this one that ask for one of its cards have to wait."""
        for card in record.request.cards if record.request else ():
            self._since.setdefault(card, record.sort_key)

    def going(self, record: PodRecord, pod_class: PodClass) -> int:
        """How many pods of a class do not have to wait for a pod before them."""
        cards = record.request.cards if record.request else ()
        since = [self._since[card] for card in cards if card in self._since]
        return bisect_left(pod_class.sort_keys, min(since)) if since else len(pod_class.sort_keys)


def held_up_in(ledger: LedgerReader, account: AccountReader) -> HeldUp:
    """The pods that are certainly held up: they are behind a pod that has no room now.

    Pods behind a gang are not known here.
    """
    found, classes = HeldUp(), account.pending.classes
    if account.facts is None or not account.facts.fifo or len(classes) > _SORTED:
        return found
    for pod_class in nsmallest(MOST_CLASSES, classes.values(), key=lambda one: one.sort_keys[0]):
        first = ledger.pods[pod_class.sort_keys[0].uid]
        alone = pod_class.gang is None or pod_class.gang.started
        enforced = ledger.mode_in(first.facts.namespace) is Mode.ENFORCE
        if not alone or not enforced or not found.going(first, pod_class):
            continue
        if judge_presence(ledger, first) is not None:
            continue
        if judge(ledger, first.facts, first.queue).outcome is Outcome.WAITS:
            found.block(first)
    return found

"""Pods that wait behind a pod without room, where no pod passes (`dequeueStrategy: fifo`).

Known from the ledger alone, on any replica, without the leader's notes on waiting pods.
"""

from bisect import bisect_left
from heapq import nsmallest
from typing import Final

from ..accounts.account import AccountReader
from ..ledger.ledger_reader import LedgerReader
from ..pending.candidate import PodClass
from ..pending.release_key import Precedence, ReleaseKey, precedence_of
from ..pods.pod_record import PodRecord
from ..verdict import Outcome
from .judgement import judge, judge_presence

MOST_CLASSES: Final = 32
"""Classes of waiting pods, from the first on, that are judged."""
_SORTED: Final = 1_000
"""Classes of waiting pods. If there are more, none is judged."""


class HeldUp:
    """By card: the place after which no pod that asks for it goes."""

    def __init__(self, account: AccountReader) -> None:
        self._account = account
        self._since: dict[str, ReleaseKey] = {}
        self._precedences: dict[str, Precedence] = {}
        """By key of the gang; empty for pods that are in none."""

    def place(self, pod_class: PodClass) -> ReleaseKey:
        """That of its first pod."""
        return self._precedence(pod_class).key_of(pod_class.sort_keys[0])

    def _precedence(self, pod_class: PodClass) -> Precedence:
        gang, account = pod_class.gang, self._account
        key = gang.key if gang is not None else ""
        found = self._precedences.get(key)
        if found is None:
            found = precedence_of(gang, account.name, account.limit)
            self._precedences[key] = found
        return found

    def block(self, record: PodRecord, pod_class: PodClass) -> None:
        """Pods after the first of a class that ask for one of its cards have to wait."""
        for card in record.request.cards if record.request else ():
            self._since.setdefault(card, self.place(pod_class))

    def going(self, record: PodRecord, pod_class: PodClass) -> int:
        """How many pods of a class do not have to wait for a pod before them."""
        cards = record.request.cards if record.request else ()
        since = [self._since[card] for card in cards if card in self._since]
        if not since:
            return len(pod_class.sort_keys)
        return bisect_left(pod_class.sort_keys, min(since), key=self._precedence(pod_class).key_of)


def held_up_in(ledger: LedgerReader, account: AccountReader) -> HeldUp:
    """The pods that are certainly held up: they are behind a pod that has no room now.

    Pods behind a gang are not known here.
    """
    found, classes = HeldUp(account), account.pending.classes
    if account.facts is None or not account.facts.fifo or len(classes) > _SORTED:
        return found
    for pod_class in nsmallest(MOST_CLASSES, classes.values(), key=found.place):
        first = ledger.pods[pod_class.sort_keys[0].uid]
        alone = pod_class.gang is None or pod_class.gang.started
        if not alone or not found.going(first, pod_class):
            continue
        if judge_presence(ledger, first) is not None:
            continue
        if judge(ledger, first.facts, first.queue).outcome is Outcome.WAITS:
            found.block(first, pod_class)
    return found
